package digest

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A value is a value of JSON.
type value struct {
	kind byte     // '"', '{', '[', or 0 for another
	text string   // of a string, unescaped; of another value, as it was sent
	keys []string // of an object
	list []value  // of an object or a list
}

// Beyond so many levels or members a text is not read as JSON.
const (
	mostLevels  = 64
	mostMembers = 1 << 16
)

// valueOf returns the value of a text in JSON, or the text as a string if it is no JSON.
// JSON may break off, because clients cut it. Several values, as in lines of JSON, are a list.
func valueOf(text string) value {
	r := jsonReader{
		text: text, members: mostMembers,
		d: jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	none, all := value{kind: '"', text: text}, value{kind: '[', text: text}
	for starts := `{["`; r.rest() != "" && r.err == nil; starts = "{" {
		if strings.IndexByte(starts, r.rest()[0]) < 0 {
			return none
		}
		all.keys, all.list = append(all.keys, ""), append(all.list, r.value(0))
	}
	switch {
	case r.err != nil && !errors.Is(r.err, io.ErrUnexpectedEOF), all.list == nil, all.list[0].kind == '"' && strings.IndexByte(text, '\\') < 0:
		return none
	case len(all.list) == 1:
		return all.list[0]
	}
	return all
}

// A jsonReader reads the values of a text.
type jsonReader struct {
	text    string
	d       *jsontext.Decoder
	members int   // that may still be read
	err     error // it is no JSON, or breaks off
}

// rest returns what was not read.
func (r *jsonReader) rest() string { return strings.TrimLeft(r.text[r.d.InputOffset():], " \n\t\r") }

// value reads the value that comes next, as far as the text goes.
func (r *jsonReader) value(level int) (v value) {
	if r.members--; level > mostLevels || r.members < 0 {
		r.err = errors.ErrUnsupported
		return v
	}
	from := len(r.text) - len(strings.TrimLeft(r.rest(), ":, \n\t\r"))
	t, err := r.d.ReadToken()
	switch {
	case err != nil:
		if r.err, v.text = err, r.text[from:]; strings.HasPrefix(v.text, `"`) {
			text, _ := jsontext.AppendUnquote(nil, strings.TrimSuffix(v.text, `\`)+`"`)
			v = value{kind: '"', text: string(text)}
		}
		return v
	case t.Kind() == '"':
		return value{kind: '"', text: t.String()}
	case t.Kind() != '{' && t.Kind() != '[':
		return value{text: t.String()}
	}
	v.kind = byte(t.Kind())
	for r.err == nil && r.d.PeekKind() != jsontext.Kind(v.kind+2) {
		key := ""
		if v.kind == '{' {
			key = r.value(level).text
		}
		if m := r.value(level + 1); r.err == nil || m.text != "" {
			v.keys, v.list = append(v.keys, key), append(v.list, m)
		}
	}
	if r.err == nil {
		_, r.err = r.d.ReadToken()
	}
	v.text = r.text[from:r.d.InputOffset()]
	return v
}

// each calls f for each string in a value.
func (v *value) each(f func(text string)) {
	if v.kind == '"' {
		f(v.text)
	}
	for i := range v.list {
		v.list[i].each(f)
	}
}

// short returns a value on one line: an object with the names of its members.
func (v *value) short() string {
	if v.list == nil {
		return strings.TrimSpace(v.text)
	}
	var members []string
	for i := range v.list {
		members = append(members, strings.TrimPrefix(v.keys[i]+" "+v.list[i].cell(), " "))
	}
	return strings.Join(members, ", ")
}

var (
	// python finds the beginning of an object or of a list of objects in the notation of
	// Python, and of rows of a database, and pythonToken what JSON writes otherwise.
	python      = regexp.MustCompile(`^(?:\[?\{'\w+': |\[\()`)
	pythonToken = regexp.MustCompile(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b(?:None|True|False)\b|\b[\w.]+\('?[^()']*'?\)|\(|,?\)`)
	inJSON      = strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `\"`, `\"`, `\x`, `\u00`, `"`, `\"`)
	jsonTokens  = map[string]string{"None": "null", "True": "true", "False": "false", "(": "[", ")": "]", ",)": "]"}
)

// valueOfPython returns the value of a text in the notation of Python, or the text as a string
// if it is not in that notation.
func valueOfPython(text string) value {
	none := value{kind: '"', text: text}
	if !python.MatchString(text) {
		return none
	}
	v := valueOf(pythonToken.ReplaceAllStringFunc(text, func(t string) string {
		if of := jsonTokens[t]; of != "" {
			return of
		}
		if n, ok := strings.CutPrefix(t, "Decimal('"); ok {
			return strings.TrimSuffix(n, "')")
		}
		if t[0] == '\'' || t[0] == '"' {
			t = t[1 : len(t)-1]
		}
		return `"` + inJSON.Replace(t) + `"` // a text, or a date
	}))
	if v.list == nil {
		return none
	}
	return v
}
