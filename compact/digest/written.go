package digest

import (
	"cmp"
	"regexp"
	"strings"

	"laconic/compact"
)

var (
	callTag      = regexp.MustCompile(`<(?:\w+_\w+|bash)>`)
	fenceCommand = regexp.MustCompile("(?s)```(?:bash|sh|shell|mswea_bash_command|(py|python))?[ \t]*\n((?:[^`]|`[^`]|``[^`])*)```\\s*$")
	// codeFile finds the name under which AutoGen keeps code that it runs.
	codeFile = regexp.MustCompile(`\A\s*# filename: (\S+)`)
)

// smolagents writes the calls of a step, in the notation of Python, behind what its model
// wrote: words, and code that says the same.
var (
	calling = regexp.MustCompile(`(?s)\n?Calling tools:\n(\[\{'id': .*\])\s*$`)
	ofCall  = regexp.MustCompile("(?s)\\s*(?:<code>|```(?:py|python)\n).*")
)

// inFence are the tools of calls that an assistant writes between fences.
var inFence = setOf("$ python")

// callIn returns the call that an assistant message without calls has in its
// text, and the text without it: <read_file><path>a.go</path></read_file>, or a block of
// shell at its end. It returns nil where there is no call.
func callIn(text string) (a *action, rest string) {
	if at := callTag.FindStringIndex(text); at != nil {
		e := elementOf(text[at[0]:], false)
		args := value{kind: '{'}
		for arg := elementOf(strings.TrimSpace(e.inner), false); arg.ends && len(args.list) < 16; arg = elementOf(strings.TrimSpace(arg.rest), false) {
			args.keys, args.list = append(args.keys, arg.tag), append(args.list, value{kind: '"', text: strings.Trim(arg.inner, "\n")})
		}
		if e.ends && args.list != nil && !harnessTags[e.tag] {
			return actionOf(e.tag, args), text[:at[0]] + e.rest
		}
	}
	if m := calling.FindStringSubmatchIndex(text); m != nil {
		if list := valueOfPython(text[m[2]:m[3]]); len(list.list) == 1 {
			f := valueOf(list.list[0].member("function"))
			args := valueOf(f.member("arguments"))
			if args.kind != '{' {
				args = value{kind: '{', keys: []string{"code"}, list: []value{args}}
			}
			return actionOf(f.member("name"), args), strings.TrimPrefix(ofCall.ReplaceAllLiteralString(text[:m[0]], ""), "Thought: ")
		}
	}
	if m := fenceCommand.FindStringSubmatchIndex(text); m != nil {
		command, before := text[m[4]:m[5]], text[:m[0]]
		if m[2] < 0 {
			return actionOf("$", value{kind: '{', keys: []string{"command"}, list: []value{{kind: '"', text: command}}}), before
		}
		a = actionOf("python", value{kind: '{', keys: []string{"code"}, list: []value{{kind: '"', text: command}}})
		if file := codeFile.FindStringSubmatch(command); file != nil {
			a.add(change{path: file[1], new: command, how: written})
		}
		return a, before
	}
	return nil, text
}

// shellOutput returns what the outputs of a shell_call say, below the first of their codes
// that is not 0.
func shellOutput(parts []compact.Part) string {
	var text strings.Builder
	code := ""
	for i := range parts {
		v := valueOf(parts[i].Text.String())
		if outcome := valueOf(v.member("outcome")); code == "" || code == "0" {
			code = cmp.Or(outcome.member("exitcode"), outcome.member("type"))
		}
		text.WriteString("\n" + joined(v.member("stdout"), "\n", v.member("stderr")))
	}
	return led("Exit code ", code) + text.String()
}
