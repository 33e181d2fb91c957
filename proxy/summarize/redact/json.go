package redact

import (
	"bytes"
	"io"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns a text of JSON, of one value or of several, with a mark in place of
// every secret: in its strings, in JSON that stands in a string, as the arguments of
// a call do, and where the name of a member calls its value a secret. A string that
// holds a secret is written anew, and all else stays byte for byte. A text that is
// not JSON is an error.
func JSON(text []byte) ([]byte, error) { return maskJSON(text, mostNested) }

// mostNested is how deep JSON is looked for in strings of strings. Below that they
// are text.
const mostNested = 4

// secretName matches the names of members whose value is a secret, whatever it looks
// like.
var secretName = regexp.MustCompile(`(?i)password|passwd|passphrase|secret|credential|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|` +
	`(?:auth|access|refresh|session|bearer)[_-]?token|(?:^|[_-])token$|session[_-]?id$|authorization|^(?:set-)?cookie$|^bearer$|(?:^|[_-])pass$`)

// inSchema matches the names by which a schema says what a member of a secret name is.
var inSchema = regexp.MustCompile(`^(?:type|description|title|format|pattern|default|enum|const|required|examples?|\$ref)$`)

// place is an object or an array that is being read.
type place struct {
	name  string // of its newest member; the values of an array have the name of the array
	label string // what its name or key says, as in {"name": "Cookie", "value": …}
	below bool   // it is in an object whose name calls it a secret
}

// holdsSecret reports whether the newest value of a place, of a kind, is a secret by
// its names.
func (p *place) holdsSecret(kind jsontext.Kind) bool {
	return secretName.MatchString(p.name) || p.name == "value" && secretName.MatchString(p.label) ||
		p.below && kind == '"' && !inSchema.MatchString(p.name)
}

func maskJSON(text []byte, nested int) ([]byte, error) {
	if nested < 0 {
		return text, nil
	}
	var out []byte
	done := 0
	at := []place{{}} // where the decoder is, at each depth
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		here := &at[len(at)-1]
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
				here.name = masked
			case value != "" && here.holdsSecret(kind):
				masked = mask
			case kind == '"':
				if inner, err := maskJSON([]byte(value), nested-1); err == nil {
					masked = string(inner)
				}
				masked = Text(masked)
			}
			if n%2 == 1 && (here.name == "name" || here.name == "key") {
				here.label = value
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
			case '{':
				at = append(at, place{below: here.below || secretName.MatchString(here.name)})
			case '[':
				at = append(at, place{name: here.name, below: here.below})
			case '}', ']':
				at = at[:len(at)-1]
			}
		}
	}
}
