package redact

import (
	"bytes"
	"io"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns a text of JSON, of one value or of several, with a mark in place of
// every secret: in its strings, in JSON that stands in a string, as the arguments of a
// call do, and where the name of a member calls its value a secret. A string that holds a
// secret is written anew, and all else stays byte for byte. A text that is not JSON is an
// error.
func JSON(text []byte) ([]byte, error) { return maskJSON(text, mostNested) }

// mostNested is how deep JSON is looked for in strings of strings. Below that they
// are text.
const mostNested = 4

func maskJSON(text []byte, nested int) ([]byte, error) {
	if nested < 0 {
		return text, nil
	}
	var out []byte
	done := 0
	names := []string{""} // of the newest member, at each depth; the values of an array have that of the array
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		name := &names[len(names)-1]
		switch kind := d.PeekKind(); kind {
		case '"', '0':
			in, n := d.StackIndex(d.StackDepth())
			raw, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			value := string(raw)
			if kind == '"' {
				unquoted, _ := jsontext.AppendUnquote(nil, raw) // what is no UTF-8 is replaced
				value = string(unquoted)
			}
			masked := value
			switch {
			case in == '{' && n%2 == 0:
				masked = Text(value)
				*name = masked
			case value != "" && secretName.MatchString(*name):
				masked = mask
			case kind == '"':
				if inner, err := maskJSON([]byte(value), nested-1); err == nil {
					masked = string(inner)
				}
				masked = Text(masked)
			}
			if masked != value {
				end := int(d.InputOffset())
				out = append(out, text[done:end-len(raw)]...)
				out, _ = jsontext.AppendQuote(out, masked)
				done = end
			}
		default:
			_, err := d.ReadToken()
			if err == io.EOF {
				return append(out, text[done:]...), nil
			}
			if err != nil {
				return nil, err
			}
			switch kind {
			case '{', '[':
				names = append(names, *name)
			case '}', ']':
				names = names[:len(names)-1]
			}
		}
	}
}

// secretName matches the names of members whose value is a secret, whatever it looks
// like.
var secretName = regexp.MustCompile(`(?i)password|passwd|passphrase|secret|credential|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|` +
	`(?:auth|access|refresh|session|bearer)[_-]?token|(?:^|[_-])token$|session[_-]?id$|authorization|^(?:set-)?cookie$|^bearer$|(?:^|[_-])pass$`)
