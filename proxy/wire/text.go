package wire

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"laconic/compact"
)

// plain are the bytes that stand for themselves within a string.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// shortEscape is what a character means behind a backslash; 0 for those that
// may not stand there, and for u.
var shortEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// endOfString reads a JSON string whose first character is src[i]. It returns
// the index of the closing quote and by how many bytes the decoded text is
// shorter; or the index of the fault and its reason.
//
// Nearly all bytes of a chat request pass here. In source code and logs, which
// is what agents send, one byte in sixteen is an escape and they come in
// clumps (a line's end, then tabs); there, looking at four bytes in a row and
// staying at a clump was faster than looking for the next escape in words of
// eight bytes, or with bytes.IndexByte.
func endOfString(src []byte, i int) (end, saved int, fault Code) {
	for {
		for i+4 <= len(src) && plain[src[i]] {
			if !plain[src[i+1]] {
				i++
				break
			}
			if !plain[src[i+2]] {
				i += 2
				break
			}
			if !plain[src[i+3]] {
				i += 3
				break
			}
			i += 4
		}
		for i+1 < len(src) && src[i] == '\\' && shortEscape[src[i+1]] != 0 {
			i += 2
			saved++
		}
		if i >= len(src) {
			return i, 0, InvalidJSON
		}
		switch c := src[i]; {
		case plain[c]:
			i++
		case c == '"':
			return i, saved, ""
		case c == '\\':
			_, n, fault := escapedRune(src[i:])
			if fault != "" {
				return i, 0, fault
			}
			i += n.read
			saved += n.read - n.made
		case c >= utf8.RuneSelf:
			for i < len(src) && src[i] >= utf8.RuneSelf {
				_, n := utf8.DecodeRune(src[i:])
				if n == 1 {
					return i, 0, InvalidUTF8
				}
				i += n
			}
		default: // a control character
			return i, 0, InvalidJSON
		}
	}
}

// runeSize is how many bytes of source an escape took and how many its
// character takes in UTF-8.
type runeSize struct{ read, made int }

// escapedRune reads \uXXXX, or two of them that make a surrogate pair.
func escapedRune(src []byte) (rune, runeSize, Code) {
	r, ok := hex4(src)
	switch {
	case !ok:
		return 0, runeSize{}, InvalidJSON
	case !utf16.IsSurrogate(r):
		return r, runeSize{6, utf8.RuneLen(r)}, ""
	}
	// Half a pair: Anthropic refuses it, Python keeps it, others replace it.
	low, ok := hex4(src[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, runeSize{}, InvalidUTF8
	}
	return r, runeSize{12, 4}, ""
}

func hex4(src []byte) (r rune, ok bool) {
	if len(src) < 6 || src[0] != '\\' || src[1] != 'u' {
		return 0, false
	}
	for _, c := range src[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// jsonString is the form in which the texts of a request are held: the inside of
// a JSON string that was read before.
var jsonString = &compact.Coding{Decode: unquote, Append: appendUnquoted}

// unquote decodes the inside of a JSON string that was read before.
func unquote(inside string) string {
	if strings.IndexByte(inside, '\\') < 0 {
		return inside
	}
	out := appendUnquoted(make([]byte, 0, len(inside)), inside)
	return unsafe.String(unsafe.SliceData(out), len(out))
}

// appendUnquoted appends what unquote would give.
func appendUnquoted(out []byte, inside string) []byte {
	for {
		i := strings.IndexByte(inside, '\\')
		if i < 0 {
			return append(out, inside...)
		}
		out = append(out, inside[:i]...)
		inside = inside[i:]
		if c := shortEscape[inside[1]]; c != 0 {
			out = append(out, c)
			inside = inside[2:]
		} else {
			r, n, _ := escapedRune(bytesOf(inside))
			out = utf8.AppendRune(out, r)
			inside = inside[n.read:]
		}
	}
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
