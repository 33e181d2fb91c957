package digest

import (
	"bytes"
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

// valueOf returns the value of a text in JSON, or the text as a string if it is no JSON, or
// the text of a string without escapes.
func valueOf(text string) value {
	none := value{kind: '"', text: text}
	start := strings.TrimLeft(text, " \n\t\r")
	if start == "" || strings.Count(text, ",") > mostMembers || strings.IndexByte(`{["`, start[0]) < 0 || start[0] == '"' && strings.IndexByte(start, '\\') < 0 {
		return none
	}
	d := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, ok := nextValue(d, text)
	if _, err := d.ReadToken(); !ok || err != io.EOF {
		return none
	}
	return v
}

// nextValue reads the value that comes next in a text. It reports whether it is JSON.
func nextValue(d *jsontext.Decoder, text string) (v value, ok bool) {
	t, err := d.ReadToken()
	if err != nil || d.StackDepth() > mostLevels {
		return v, false
	}
	switch kind := t.Kind(); kind {
	case '"':
		return value{kind: '"', text: t.String()}, true
	case '{', '[':
		v.kind = byte(kind)
	default:
		return value{text: t.String()}, true
	}
	from := d.InputOffset() - 1
	for d.PeekKind() != jsontext.Kind(v.kind+2) {
		var key, m value
		if v.kind == '{' {
			key, _ = nextValue(d, text)
		}
		if m, ok = nextValue(d, text); !ok {
			return v, false
		}
		v.keys, v.list = append(v.keys, key.text), append(v.list, m)
	}
	_, err = d.ReadToken()
	v.text = text[from:d.InputOffset()]
	return v, err == nil
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
