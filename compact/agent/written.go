package agent

import (
	"regexp"
	"slices"
	"strings"
)

var (
	callTag = regexp.MustCompile(`<(?:\w+_\w+|bash)>`)
	// functionCall finds the beginning of a call as OpenHands and SWE-agent write it for models that
	// know no tools, and parameter that of an argument.
	functionCall = regexp.MustCompile(`<function=([\w.-]+)>`)
	parameter    = regexp.MustCompile(`(?:\A|</parameter>)\s*<parameter=([\w.-]+)>`)
	// fenceCommand finds a block of shell or of code at the end of a text, behind which
	// smolagents writes the call that runs it.
	fenceCommand = regexp.MustCompile("(?s)(?:```(?:bash|sh|shell|mswea_bash_command|(py|python))?[ \t]*\n((?:[^`]|`[^`]|``[^`])*)```|<code>\n(.*?)\n</code>)\\s*(?:Calling tools:.*)?$")
)

// CallIn returns the call that an assistant message without calls has in its
// text, and the text without it: <read_file><path>a.go</path></read_file>,
// <function=bash><parameter=command>ls</parameter></function>, or a block of shell or of code at
// its end. It returns nil where there is no call.
func CallIn(text string) (a *Action, rest string) {
	args := Value{kind: '{'}
	take := func(name, text string) {
		args.keys, args.list = append(args.keys, name), append(args.list, Value{kind: '"', Text: strings.Trim(text, "\n")})
	}
	calls := functionCall.FindAllStringSubmatchIndex(text, -1)
	for _, m := range slices.Backward(calls[max(0, len(calls)-8):]) { // the last is followed by its result
		before, rest := text[:m[0]], text[m[1]:]
		if strings.Count(before, "<parameter=") != strings.Count(before, "</parameter>") || strings.Count(before, "```")%2 > 0 { // in an argument, or quoted
			continue
		}
		rest, after := cutLast(rest, "</function>")
		names := parameter.FindAllStringSubmatchIndex(rest, 16)
		for i, p := range names {
			arg := rest[p[1]:]
			if i+1 < len(names) {
				arg = rest[p[1]:names[i+1][0]]
			} else {
				arg, _ = cutLast(arg, "</parameter>")
			}
			take(rest[p[2]:p[3]], arg)
		}
		return actionOf(text[m[2]:m[3]], args), before + after
	}
	if at := callTag.FindStringIndex(text); at != nil {
		e := elementOf(text[at[0]:], false)
		if args = valueOfElements(e.inner, 0); args.list != nil {
			return actionOf(e.tag, args), text[:at[0]] + e.rest
		}
	}
	m := fenceCommand.FindStringSubmatch(text)
	if m == nil {
		return nil, text
	}
	tool, key := "$", "command"
	if m[1]+m[3] != "" {
		tool, key = "python", "code"
	}
	args.keys, args.list = []string{key}, []Value{{kind: '"', Text: m[2] + m[3]}}
	return actionOf(tool, args), strings.TrimPrefix(strings.TrimSuffix(text, m[0]), "Thought: ")
}

// valueOfElements returns the object whose members are elements in a text, those of Roo Code's lists
// of files with members of their own.
func valueOfElements(text string, level int) Value {
	v := Value{kind: '{', Text: text}
	for e := elementOf(strings.TrimSpace(text), false); e.tag != "" && len(v.list) < 256; e = elementOf(strings.TrimSpace(e.rest), false) {
		m := Value{kind: '"', Text: strings.Trim(e.inner, "\n")}
		if level < 3 && (e.tag == "args" || e.tag == "file" || e.tag == "diff") {
			if in := valueOfElements(e.inner, level+1); in.list != nil {
				m = in
			}
		}
		v.keys, v.list = append(v.keys, e.tag), append(v.list, m)
	}
	return v
}

// cutLast cuts a text around the last of some marks; without one all is before it.
func cutLast(text, mark string) (before, after string) {
	i := strings.LastIndex(text, mark)
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+len(mark):]
}
