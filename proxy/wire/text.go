package wire

import (
	"encoding/binary"
	"math/bits"
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

// Words of eight bytes, to look at all of them at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns the highest bit of each of eight bytes that may not stand for
// itself within a string. Behind such a byte it may also return that of a plain one.
func special(eight []byte) uint64 {
	x := binary.LittleEndian.Uint64(eight)
	return (((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones) | (x - ' '*ones) | x) & highs
}

// endOfString reads a JSON string whose first character is src[i]. It returns
// the index of the closing quote and by how many bytes the decoded text is
// shorter; or the index of the fault and its reason.
//
// Nearly all bytes of a chat request pass here. What is not plain is searched for in
// blocks of 32 bytes, and each of them is a bit then: in source code and logs, which
// is what agents send, one byte in sixteen is an escape, and a branch for each plain
// run between two would be foretold wrongly. It takes two thirds of the time that a
// table of bytes does, a half in prose, and two fifths where no letter is ASCII.
func endOfString(src []byte, i int) (end, saved int, fault Code) {
	for n := min(i+shortString, len(src)); i < n && plain[src[i]]; {
		i++
	}
	const size = 32
	for i+size < len(src) {
		block := src[i : i+size]
		a, b, c, d := special(block), special(block[8:]), special(block[16:]), special(block[24:])
		if a|b|c|d == 0 {
			i += size
			continue
		}
		next := i + size
		for found := eightBits(a) | eightBits(b)<<8 | eightBits(c)<<16 | eightBits(d)<<24; found != 0; {
			n := bits.TrailingZeros64(found) & 63
			at := i + n
			switch c := src[at]; {
			case c == '\\' && shortEscape[src[at+1]] != 0:
				saved++
				found &^= 3 << n
				next += (n + 1) / size
			case c == '"':
				return at, saved, ""
			case plain[c]:
				found &^= 1 << n
			default:
				end, more, fault := notPlain(src, at)
				if fault != "" {
					return end, 0, fault
				}
				saved += more
				if end >= next {
					next, found = end, 0
				} else {
					found &^= 1<<(end-i) - 1
				}
			}
		}
		i = next
	}
	return endOfTail(src, i, saved)
}

// shortString is how many bytes of a string are looked at one by one. Keys, roles
// and names are not longer.
const shortString = 12

// eightBits returns the bits of special one beside the other.
func eightBits(special uint64) uint64 { return special >> 7 * 0x0102040810204080 >> 56 }

// endOfTail is endOfString for the last bytes of src, behind text that decodes to
// saved bytes less.
func endOfTail(src []byte, i, saved int) (end, allSaved int, fault Code) {
	for i < len(src) {
		switch c := src[i]; {
		case plain[c]:
			i++
		case c == '"':
			return i, saved, ""
		default:
			end, more, fault := notPlain(src, i)
			if fault != "" {
				return end, 0, fault
			}
			i, saved = end, saved+more
		}
	}
	return i, 0, InvalidJSON
}

// notPlain reads what stands at src[i], which is neither plain nor a quote: an escape,
// or letters other than ASCII up to the next that is. It returns the index behind it
// and by how many bytes the decoded text is shorter; or the index of the fault and its
// reason.
func notPlain(src []byte, i int) (end, saved int, fault Code) {
	switch c := src[i]; {
	case c == '\\' && i+1 < len(src) && shortEscape[src[i+1]] != 0:
		return i + 2, 1, ""
	case c == '\\':
		_, n, fault := escapedRune(src[i:])
		return i + n.read, n.read - n.made, fault
	case c < utf8.RuneSelf: // a control character
		return i, 0, InvalidJSON
	}
	for i < len(src) && src[i] >= utf8.RuneSelf {
		n := runeLength(src[i:])
		if n == 0 {
			return i, 0, InvalidUTF8
		}
		i += n
	}
	return i, 0, ""
}

// runeLength returns how many bytes the first character of src has, which is not
// ASCII; 0 for what is not UTF-8. Two and three bytes are told without decoding them,
// where any that continue a character may follow the first.
func runeLength(src []byte) int {
	switch c := src[0]; {
	case 0xc2 <= c && c <= 0xdf && len(src) > 1 && continues(src[1]):
		return 2
	case 0xe1 <= c && c <= 0xef && c != 0xed && len(src) > 2 && continues(src[1]) && continues(src[2]):
		return 3
	}
	_, n := utf8.DecodeRune(src)
	if n == 1 {
		return 0
	}
	return n
}

func continues(c byte) bool { return c&0xc0 == 0x80 }

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

// lent returns the bytes as a string, to be read while they do not change.
func lent(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
