package overflow

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// mostUndecided is how much of an event is waited for that says neither that it
// is an answer nor that it is an error.
const mostUndecided = 64 << 10

// undecided judges a JSON object that is not all there by the keys at its top:
// Maybe, or Answer where too much is held already. An error chunk may begin as those of answers do (OpenRouter:
// id, object, created, model, provider, error), so only what was generated tells
// an answer.
func undecided(raw []byte, held int, generated []string) Begins {
	within := Maybe
	if held > mostUndecided {
		within = Answer
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	// next reads a token. Where there is none it returns unread if the text ends here, and
	// Answer if it is no JSON.
	next := func(unread Begins) (t jsontext.Token, begins Begins, ok bool) {
		t, err := d.ReadToken()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return t, unread, false
		}
		return t, Answer, err == nil
	}
	if d.PeekKind() == '[' {
		_, _ = d.ReadToken()
	}
	if t, begins, ok := next(Maybe); !ok || t.Kind() != '{' {
		return begins
	}
	for {
		key, begins, ok := next(within)
		if !ok || key.Kind() != '"' { // the end of an object without an error, or no JSON
			return begins
		}
		name := key.String()
		first := d.PeekKind()
		if (name == "error" || name == "base_resp") && (first == '{' || first == '"') {
			return Maybe // whatever its size
		}
		if rest := bytes.TrimLeft(raw[d.InputOffset():], ": \t\r\n"); first == '[' && slices.Contains(generated, name) {
			if rest = bytes.TrimLeft(rest[1:], " \t\r\n"); len(rest) > 0 && rest[0] != ']' {
				return Answer
			}
		}
		if err := d.SkipValue(); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return within
		} else if err != nil {
			return Answer
		}
	}
}

// typeIn returns the type of an event at its top, "" if that is not there.
func typeIn(data []byte) string { return gjson.GetBytes(data, "type").String() }
