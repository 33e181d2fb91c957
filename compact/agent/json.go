package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"laconic/compact/quote"
)

// A reader writes the text of a result as a reader wants it: a text in JSON, or in the
// notation of Python, without its escapes and what wraps it, the members of an object as
// "key: value", and objects of one kind as rows below their keys. Other texts it writes as
// they are.
type reader struct {
	Result
	b strings.Builder
}

func (r *reader) line(name, text string) {
	if text != "" {
		if plain, first, counted := withoutNumbers(text); first == 1 {
			text, r.First, r.counted = plain, first, counted
		}
		r.b.WriteString(strings.TrimSuffix(quote.Joined(name, ": ", text), "\n"))
		r.b.WriteByte('\n')
	}
}

// value writes a value under its name: a text may be JSON itself.
func (r *reader) value(name string, v *Value) {
	switch {
	case v.list == nil:
		if in := valueOf(v.Text); in.list != nil || in.Text != v.Text {
			in.withoutLinks()
			r.value(name, &in)
		} else {
			r.line(name, v.Text)
		}
	case v.kind == '{':
		r.Made = r.Made || !v.wraps()
		if r.members(name, v); name == "" {
			r.Object = max(r.Object, v.says())
		}
	case v.isTable():
		r.Made = true
		r.table(name, v.list)
	case !slices.ContainsFunc(v.list, func(m Value) bool { return m.list != nil || len(m.Text) > longText }):
		r.line(name, v.short())
	default:
		for i := range v.list {
			at := name
			// Without a number two objects would read as one where a line is missing. A list without a
			// name is mostly parts of a text.
			if name != "" && len(v.list) > 1 {
				at += "[" + strconv.Itoa(i) + "]"
			}
			r.value(at, &v.list[i])
		}
		if len(v.list) > 1 { // others may not have failed
			r.Object = Unknown
		}
	}
}

// members writes the members of an object: what is short on one line, then the others.
func (r *reader) members(name string, v *Value) {
	line, wraps := "", v.wraps()
	var long []int
	for i := range v.list {
		m, key := &v.list[i], plainKey(v.keys[i])
		switch {
		case wraps && (textKeys[key] || m.list != nil):
			r.value("", m)
		case wraps && strings.HasSuffix(key, "code"):
			r.line(v.keys[i], m.Text)
		case wraps:
			r.Part = r.Part || key == "truncated" && m.Text == "true"
		case m.kind == '"' && strings.IndexByte(m.Text, '\n') >= 0, m.list != nil && (len(m.Text) > longText || m.isTable()):
			long = append(long, i)
		default:
			s := v.keys[i] + ": " + m.short()
			if len(line)+len(s) > LeastLine-8 {
				r.line(name, line)
				line = ""
			}
			line = quote.Joined(line, ", ", s)
		}
	}
	r.line(name, line)
	for _, i := range long {
		r.value(quote.First(quote.Joined(name, ".", v.keys[i]), LeastLine), &v.list[i]) // lines of lists repeat it
	}
}

// table writes objects with the same keys.
func (r *reader) table(name string, rows []Value) {
	names := Value{keys: make([]string, len(rows[0].keys))}
	for _, key := range rows[0].keys {
		names.list = append(names.list, Value{kind: '"', Text: key})
	}
	from := r.b.Len()
	r.line(name, "("+names.short()+")")
	for i := range rows {
		row := Value{keys: names.keys, list: rows[i].list}
		r.line("", row.short())
	}
	r.Rows = max(r.Rows, len(rows))
	r.Listed += r.b.Len() - from
	r.b.WriteByte('\n') // an empty line ends it
}

// The lengths above which an object, a list or a member of a list has lines of its own, and up
// to which an object may be a row.
const (
	longText   = 200
	longObject = 1500
)

// isTable reports whether a value is a list of objects with the same keys, and no long texts.
func (v *Value) isTable() bool {
	return v.kind == '[' && len(v.list) > 1 && len(v.list[0].keys) > 1 && !v.list[0].wraps() && !slices.ContainsFunc(v.list, func(m Value) bool {
		return m.kind != '{' || !slices.Equal(m.keys, v.list[0].keys) || len(m.Text) > longObject || strings.Contains(m.Text, `\n`)
	})
}

// links finds the members with which services link to their other answers.
var links = regexp.MustCompile(`^(?:\w+_)?url$|^(?:node|gravatar)_id$`)

// withoutLinks leaves them out of the objects of GitHub and GitLab.
func (v *Value) withoutLinks() {
	has := func(key string) bool { return slices.Contains(v.keys, key) }
	linked := has("web_url") || has("html_url") || has("node_id") && slices.ContainsFunc(v.keys, func(key string) bool { return strings.HasSuffix(key, "url") })
	keys, list := v.keys[:0], v.list[:0]
	for i, key := range v.keys {
		if v.list[i].withoutLinks(); !linked || !links.MatchString(key) {
			keys, list = append(keys, key), append(list, v.list[i])
		}
	}
	v.keys, v.list = keys, list
}

// Members of objects, by their names: the text that a harness wraps, what it says beside it,
// an error, and more about one.
var (
	textKeys   = setOf("output content text stdout stderr result response")
	frameKeys  = setOf("type query iserror success interrupted isimage iscomplete annotations metadata outcome exitcode returncode duration durationms durationseconds totallines filesize truncated hint isbinary")
	errorKeys  = setOf("iserror error errors err exception errormessage")
	besideKeys = setOf("message msg detail details description reason hint code status statuscode errorcode errormsg errortype title path timestamp requestid traceid runid jsonrpc id ok instance validationerrors")
)

// nothings are values of an error that say that there is none.
var nothings = setOf("null none nil no false 0 ok success")

// says returns how the call ended that returned an object: it failed if there is an
// error and nothing else.
func (v *Value) says() Verdict {
	fails := false
	for i := range v.list {
		m, key := &v.list[i], plainKey(v.keys[i])
		text := strings.Trim(m.Text, "{}[] \n")
		nothing := m.list == nil && (text == "" || nothings[strings.ToLower(text)])
		switch {
		case errorKeys[key]:
			fails = fails || !nothing
		case key == "success", key == "ok":
			fails = fails || nothing
		case key == "status" && m.Text == "error":
			fails = true
		case !nothing && !besideKeys[key] && !textKeys[key] && !frameKeys[key]:
			return Passed
		}
	}
	switch {
	case fails:
		return Failed
	case v.wraps(): // the text says it
		return Unknown
	}
	return Passed
}

// wraps reports whether an object only wraps a text or the code of a program.
func (v *Value) wraps() (texts bool) {
	for _, k := range v.keys {
		if k = plainKey(k); textKeys[k] || frameKeys[k] && strings.HasSuffix(k, "code") {
			texts = true
		} else if !frameKeys[k] {
			return false
		}
	}
	return texts
}
