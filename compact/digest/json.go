package digest

import (
	"slices"
	"strings"
)

// unwrap returns the text of a result as a reader wants it: a text in JSON, or in the
// notation of Python, without its escapes and what wraps it, the members of an object as
// "key: value", and objects of one kind as rows below their keys. Other texts are returned
// as they are. It returns as well whether an object says that the call passed or failed,
// and the tables in the text. What a tool made may be in YAML as well: files in it are
// edited as they stand.
func unwrap(text string, made bool) (string, verdict, []table) {
	v := valueOf(text)
	whole := func() bool { return v.list == nil && v.text == text }
	if whole() {
		v = valueOfPython(text)
	}
	if whole() && made {
		v = valueOfYAML(text)
	}
	if whole() {
		return text, unknown, nil
	}
	var r reader
	r.value(&v, "")
	return r.b.String(), r.says, r.tables
}

// A reader writes values as a reader wants them.
type reader struct {
	b      strings.Builder
	says   verdict
	tables []table
}

// value writes a value under its name.
func (r *reader) value(v *value, name string) {
	switch v.tabular(); {
	case v.kind == '"':
		text, says, tables := unwrap(v.text, false)
		if r.line(joined(name, ": ", text)); name == "" {
			r.says = max(r.says, says)
		}
		r.tables = append(r.tables, tables...)
	case v.list == nil:
		r.line(joined(name, ": ", v.text))
	case v.kind == '{':
		if r.object(v, name); name == "" {
			r.says = max(r.says, v.says())
		}
	case v.isTable():
		t := tableOf(name, v.list)
		r.line(t.text + "\n") // an empty line ends it
		r.tables = append(r.tables, t)
	case !slices.ContainsFunc(v.list, func(m value) bool { return m.list != nil || len(m.text) > longMember }):
		r.line(joined(name, ": ", v.short()))
	default:
		says := r.says
		for i := range v.list {
			r.value(&v.list[i], name)
		}
		if len(v.list) > 1 { // others may not have failed
			r.says = says
		}
	}
}

// longText is the length above which an object or a list has lines of its own.
const longText = 200

// longMember is the length above which members of a list have lines of their own.
const longMember = 60

func (r *reader) line(text string) {
	r.b.WriteString(text)
	if text != "" && text[len(text)-1] != '\n' {
		r.b.WriteByte('\n')
	}
}

// What harnesses wrap results in: the text stands under one of textKeys, and what
// stands under others of frameKeys says nothing.
var (
	textKeys  = setOf("output content text stdout stderr result response")
	frameKeys = setOf("type query iserror success interrupted isimage iscomplete annotations metadata exitcode returncode duration durationms durationseconds")
)

// Members of these names hold an error, and members of besideKeys more about it.
var (
	errorKeys  = setOf("iserror error errors err exception errormessage")
	besideKeys = setOf("message msg detail details description reason hint code status statuscode errorcode errormsg errortype title path timestamp requestid traceid jsonrpc id ok instance")
)

// nothings are values of an error that say that there is none.
var nothings = setOf("null none nil no false 0 ok success")

// says returns how the call ended that returned an object: it failed if there is an
// error and nothing else.
func (v *value) says() verdict {
	fails := false
	for i := range v.list {
		m, key := &v.list[i], plainKey(v.keys[i])
		nothing := m.list == nil && (m.kind != '"' && strings.Trim(m.text, "{}[] \n") == "" || m.text == "" || nothings[strings.ToLower(m.text)])
		switch {
		case errorKeys[key]:
			fails = fails || !nothing
		case key == "success", key == "ok":
			fails = fails || nothing
		case key == "status" && m.text == "error":
			fails = true
		case !nothing && !besideKeys[key] && !textKeys[key] && !frameKeys[key]:
			return passed
		}
	}
	switch {
	case fails:
		return failed
	case v.wraps(): // the text says it
		return unknown
	}
	return passed
}

// wraps reports whether an object only wraps a text.
func (v *value) wraps() (texts bool) {
	for _, k := range v.keys {
		if k = plainKey(k); textKeys[k] {
			texts = true
		} else if !frameKeys[k] {
			return false
		}
	}
	return texts
}

// object writes the members of an object: what is short on one line, then the others.
func (r *reader) object(v *value, name string) {
	line, wraps := "", v.wraps()
	flush := func() {
		if line != "" {
			r.line(joined(name, ": ", line))
		}
		line = ""
	}
	var long []int
	for i := range v.list {
		m, key := &v.list[i], plainKey(v.keys[i])
		switch {
		case wraps && (textKeys[key] || m.list != nil):
			flush()
			r.value(m, "")
		case wraps && !strings.HasSuffix(key, "code"):
		case m.kind == '"' && strings.IndexByte(m.text, '\n') >= 0, m.list != nil && (len(m.text) > longText || m.isTable()):
			long = append(long, i)
		default:
			s := v.keys[i] + ": " + m.short()
			if len(line)+len(s) > leastLine-8 {
				flush()
			}
			line = joined(line, ", ", s)
		}
	}
	flush()
	for _, i := range long {
		r.value(&v.list[i], firstBytes(joined(name, ".", v.keys[i]), mostName))
	}
}

// mostName is the length of the name of a member. It is cut there: lines of lists repeat it.
const mostName = 100
