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
var jsonString = &compact.Coding{Decode: unquote, Append: appendUnquoted}

// shortEscape is what a character means behind a backslash; 0 for u.
var shortEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote decodes the inside of a JSON string that was checked.
func unquote(inside string) string {
	if strings.IndexByte(inside, '\\') < 0 {
		return inside
	}
	return lent(appendUnquoted(make([]byte, 0, len(inside)), inside))
}

// appendUnquoted appends what unquote would give.
func appendUnquoted(out []byte, inside string) []byte {
	for {
		i := strings.IndexByte(inside, '\\')
		if i < 0 {
			return append(out, inside...)
		}
		out = append(out, inside[:i]...)
		if c := shortEscape[inside[i+1]]; c != 0 {
			out, inside = append(out, c), inside[i+2:]
			continue
		}
		r, n := escapedRune(inside[i:])
		out, inside = utf8.AppendRune(out, r), inside[i+n:]
	}
}

// unquotedLen returns the length of what unquote would give. Escapes without digits
// stand for one byte each.
func unquotedLen(inside string) int {
	if strings.Contains(inside, `\u`) {
		return len(unquote(inside))
	}
	return len(inside) - strings.Count(inside, `\`) + strings.Count(inside, `\\`)
}

// escapedRune reads \uXXXX, or two of them that make a surrogate pair, and returns how
// many bytes they take.
func escapedRune(s string) (r rune, read int) {
	if r = hex4(s); utf16.IsSurrogate(r) {
		return utf16.DecodeRune(r, hex4(s[6:])), 12
	}
	return r, 6
}

func hex4(s string) rune {
	n, _ := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n)
}

// textOf is the text of a string value, decoded when somebody asks.
func (s *scanner) textOf(v value) compact.Text {
	if v.kind != '"' {
		return compact.Text{}
	}
	return encoded(s.inside(v))
}

// encoded is the text that unquote gives of the inside of a string.
func encoded(inside string) compact.Text {
	if size := unquotedLen(inside); size < len(inside) {
		return compact.Encoded(inside, size, jsonString)
	}
	return compact.Plain(inside)
}

// appendQuoted appends text as a JSON string. Only what must be escaped is:
// never < > & as encoding/json does, which would change a prompt's bytes for
// nothing. Bytes that are not UTF-8 become U+FFFD.
func appendQuoted(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// bytesOf lends the bytes of a string, to be read only.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// lent returns the bytes as a string, to be read while they do not change.
func lent(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
