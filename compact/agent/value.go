package agent

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"laconic/compact/quote"
)

// A Value is a value of JSON.
type Value struct {
	kind byte     // as JSON begins it: '"', '{', '[', another
	Text string   // of a string, unescaped; of another value, as it was sent
	keys []string // of an object, or as many empty ones
	list []Value  // of an object or a list
}

// Beyond so many levels a text stays as it is, beyond so many members it is not read as JSON,
// and beyond so many bytes not as YAML.
const (
	mostLevels  = 64
	mostMembers = 1 << 16
	mostYAML    = 1 << 18
)

// valueOf returns the value of a text in JSON, or the text as a string if it is no JSON, or
// the text of a string without escapes.
func valueOf(text string) Value {
	none := Value{kind: '"', Text: text}
	start := strings.TrimLeft(text, " \n\t\r")
	if start == "" || strings.Count(text, ",") > mostMembers || strings.IndexByte(`{["`, start[0]) < 0 || start[0] == '"' && strings.IndexByte(start, '\\') < 0 {
		return none
	}
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if !jsontext.Value(text).IsValid(options...) {
		return none
	}
	return nextValue(jsontext.NewDecoder(bytes.NewBufferString(text), options...), text)
}

// nextValue reads the value that comes next in a text of JSON.
func nextValue(d *jsontext.Decoder, text string) (v Value) {
	if d.StackDepth() == mostLevels {
		raw, _ := d.ReadValue()
		return Value{Text: string(raw)}
	}
	t, _ := d.ReadToken()
	if v.kind = byte(t.Kind()); v.kind != '{' && v.kind != '[' {
		v.Text = t.String()
		return v
	}
	from := d.InputOffset() - 1
	for d.PeekKind() != jsontext.Kind(v.kind+2) {
		key := Value{}
		if v.kind == '{' {
			key = nextValue(d, text)
		}
		v.keys, v.list = append(v.keys, key.Text), append(v.list, nextValue(d, text))
	}
	d.ReadToken()
	v.Text = text[from:d.InputOffset()]
	return v
}

// pythonic finds the beginning of an object, or of a list of objects, as tools in Python print
// them: in YAML, or in Python's own notation, which mostly is YAML as well.
var pythonic = regexp.MustCompile(`^(?:(?:- )?[A-Za-z_]\w*:(?: [^\n]*)?\n|\[?\{'\w+': [^}])`)

// valueOfYAML returns the value of a text in YAML. It returns the text as a string if the text
// is no YAML, or says more than its value.
func valueOfYAML(text string) Value {
	var doc yaml.Node
	if len(text) <= mostYAML && pythonic.MatchString(text) && !strings.Contains(text, "\n---") && yaml.Unmarshal([]byte(text), &doc) == nil {
		if v := valueOf(string(appendNode(nil, &doc))); v.list != nil && (text[0] == '{' || v.list[0].kind == '[' || len(v.list[0].list) > 1) {
			return v.list[0]
		}
	}
	return Value{kind: '"', Text: text}
}

// appendNode appends a node of YAML as JSON: a document as a list. What says more than that
// makes it no JSON: what looks like a comment may be the number of an order.
func appendNode(b []byte, n *yaml.Node) []byte {
	switch {
	case n.HeadComment+n.LineComment+n.FootComment+n.Anchor != "", n.Style&yaml.TaggedStyle != 0, n.Kind == yaml.AliasNode:
		return append(b, '#')
	case n.Kind == yaml.ScalarNode && n.Style == 0 && jsontext.Value(n.Value).IsValid():
		return append(b, n.Value...)
	case n.Kind == yaml.ScalarNode:
		b, _ = jsontext.AppendQuote(b, n.Value)
		return b
	}
	marks := "[],,"
	if n.Kind == yaml.MappingNode {
		marks = "{},:"
	}
	b = append(b, marks[0])
	for i, m := range n.Content {
		if i > 0 {
			b = append(b, marks[2+i%2])
		}
		b = appendNode(b, m)
	}
	return append(b, marks[1])
}

// Each calls f for each string in a value.
func (v *Value) Each(f func(text string)) {
	if v.kind == '"' {
		f(v.Text)
	}
	for i := range v.list {
		v.list[i].Each(f)
	}
}

// Member returns the text of the first member with one of some names, which are without
// style, or "".
func (v *Value) Member(names string) string {
	list := strings.Fields(names)
	for i, k := range v.keys {
		if slices.Contains(list, plainKey(k)) && (v.list[i].kind == '"' || v.list[i].Text != "null") {
			return v.list[i].Text
		}
	}
	return ""
}

// repeats reports whether a member says in other words what one beside it says, in lists of what is
// to do.
func (v *Value) repeats(i int) bool {
	return plainKey(v.keys[i]) == "activeform" && v.Member("content subject") != ""
}

// short returns a value on one line: an object with the names of its members.
func (v *Value) short() string {
	if v.list == nil {
		return strings.TrimSpace(v.Text)
	}
	var members []string
	for i := range v.list {
		if !v.repeats(i) {
			members = append(members, quote.Joined(v.keys[i], " ", v.list[i].cell()))
		}
	}
	return strings.Join(members, ", ")
}

// cell returns a value as it stands between others: in quotes where it is empty or has
// what stands between values.
func (v *Value) cell() string {
	if v.list != nil {
		return "[" + v.short() + "]"
	}
	s := v.Text
	if v.kind == '"' {
		s = strings.Join(strings.Fields(s), " ")
		if s == "" || strings.ContainsAny(s[:1], `["`) || containsAny(s+" ", []string{", ", "; "}) {
			s = `"` + s + `"`
		}
	}
	return s
}
