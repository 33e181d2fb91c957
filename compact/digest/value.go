package digest

import (
	"bytes"
	"cmp"
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

// valueOf returns the value of a text: a string, if it is no JSON. JSON may break
// off, because clients cut it. Several values, as in lines of JSON, are a list.
func valueOf(text string) value {
	r := jsonReader{
		text: text, members: mostMembers,
		d: jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	all := value{kind: '[', text: text}
	for starts := `{["`; r.rest() != "" && !r.bad && !r.ended; starts = "{" {
		r.bad = strings.IndexByte(starts, r.rest()[0]) < 0
		all.keys, all.list = append(all.keys, ""), append(all.list, r.value(0))
	}
	switch {
	case r.bad || all.list == nil || all.list[0].kind == '"' && strings.IndexByte(text, '\\') < 0:
		return value{kind: '"', text: text}
	case len(all.list) == 1:
		return all.list[0]
	}
	return all
}

// A jsonReader reads the values of a text.
type jsonReader struct {
	text    string
	d       *jsontext.Decoder
	members int  // that may still be read
	bad     bool // it is no JSON
	ended   bool // the text breaks off
}

// rest returns what was not read.
func (r *jsonReader) rest() string { return strings.TrimLeft(r.text[r.d.InputOffset():], " \n\t\r") }

// value reads the value that comes next, as far as the text goes.
func (r *jsonReader) value(level int) (v value) {
	r.members--
	r.bad = r.bad || level > mostLevels || r.members < 0
	if r.bad {
		return v
	}
	from := len(r.text) - len(strings.TrimLeft(r.rest(), ":, \n\t\r"))
	t, err := r.d.ReadToken()
	switch {
	case err != nil:
		r.ended = errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
		r.bad = !r.ended
		if v.text = r.text[from:]; strings.HasPrefix(v.text, `"`) {
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
	for end := jsontext.Kind(v.kind + 2); !r.bad && !r.ended; {
		if r.rest() == "" {
			r.ended = true
			break
		}
		if r.d.PeekKind() == end {
			_, err := r.d.ReadToken()
			r.bad = err != nil
			break
		}
		key := ""
		if v.kind == '{' {
			key = r.value(level).text
		}
		if !r.bad {
			v.keys, v.list = append(v.keys, key), append(v.list, r.value(level+1))
		}
	}
	v.text = r.text[from:r.d.InputOffset()]
	return v
}

// each calls f for each string in a value, with its key.
func (v *value) each(key string, f func(key, text string)) {
	if v.kind == '"' {
		f(key, v.text)
	}
	for i := range v.list {
		v.list[i].each(cmp.Or(v.keys[i], key), f)
	}
}

// short returns a value on one line: an object with the names of its members.
func (v *value) short() string {
	if v.list == nil {
		return strings.TrimSpace(v.text)
	}
	var members []string
	for i := range v.list {
		m := &v.list[i]
		s := m.short()
		switch {
		case m.list != nil:
			s = "[" + s + "]"
		case m.kind == '"':
			s = within(s)
		}
		if v.kind == '{' {
			s = v.keys[i] + " " + s
		}
		members = append(members, s)
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

// valueOfPython returns the value of a text in the notation of Python: a string, if it is none.
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
