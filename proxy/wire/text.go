package wire

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"laconic/compact"
)

// jsonString is the form in which the texts of a request are held: the inside of
// a JSON string that was checked.
var jsonString = &compact.Coding{Decode: unquote}

// shortEscape is what a character means behind a backslash; 0 for u.
var shortEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote decodes the inside of a JSON string that was checked.
func unquote(inside string) string {
	if strings.IndexByte(inside, '\\') < 0 {
		return inside
	}
	out := make([]byte, 0, len(inside))
	for i := strings.IndexByte(inside, '\\'); i >= 0; i = strings.IndexByte(inside, '\\') {
		r, n := escaped(inside[i:])
		out, inside = utf8.AppendRune(append(out, inside[:i]...), r), inside[i+n:]
	}
	return lent(append(out, inside...))
}

// escaped returns the character that an escape at the start of a text stands for, and
// how many bytes the escape takes, 0 for one that stands for none.
func escaped(s string) (r rune, read int) {
	if len(s) < 2 {
		return 0, 0
	}
	if c := shortEscape[s[1]]; c != 0 {
		return rune(c), 2
	}
	switch r = hex4(s); {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if r = utf16.DecodeRune(r, hex4(s[6:])); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hex4 reads \uXXXX, and returns -1 if the text begins with anything else.
func hex4(s string) rune {
	if len(s) < 6 || s[:2] != `\u` {
		return -1
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// textOf is the text of a string value, decoded when somebody asks.
func (s *scanner) textOf(v value) compact.Text {
	if v.kind != '"' {
		return compact.Text{}
	}
	return encoded(s.inside(v), int(v.size))
}

// encoded is the text of some size that unquote gives of the inside of a string.
func encoded(inside string, size int) compact.Text {
	if size < len(inside) {
		return compact.Encoded(inside, size, jsonString)
	}
	return compact.Plain(inside)
}

// quoted returns text as a JSON string. Only what must be escaped is:
// never < > & as encoding/json does, which would change a prompt's bytes for
// nothing. Bytes that are not UTF-8 become U+FFFD.
func quoted(text string) []byte {
	made, _ := jsontext.AppendQuote(nil, text)
	return made
}

// lent returns the bytes as a string, to be read while they do not change.
func lent(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
