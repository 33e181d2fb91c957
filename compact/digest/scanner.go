package digest

import (
	"strings"
	"unicode/utf8"
)

// scanner reads JSON.
type scanner struct {
	s  string
	at int
}

// skip passes over blanks.
func (r *scanner) skip() {
	for r.at < len(r.s) && isBlank(r.s[r.at]) {
		r.at++
	}
}

// str reads the string that begins here, up to its end or that of the text. It
// returns the bytes between the quotes, and whether they have escapes.
func (r *scanner) str() (raw string, escaped bool) {
	r.at++
	from := r.at
	for r.at < len(r.s) {
		i := strings.IndexByte(r.s[r.at:], '"')
		if i < 0 {
			r.at = len(r.s)
			return r.s[from:], strings.IndexByte(r.s[from:], '\\') >= 0
		}
		end := r.at + i
		slashes := 0
		for end-slashes > r.at && r.s[end-slashes-1] == '\\' {
			slashes++
		}
		escaped = escaped || slashes > 0 || strings.IndexByte(r.s[r.at:end], '\\') >= 0
		if r.at = end + 1; slashes%2 == 0 {
			return r.s[from:end], escaped
		}
	}
	return r.s[from:], escaped
}

var inScalar = func() (t [256]bool) {
	for _, c := range "0123456789+-.eEtrufalsn" {
		t[c] = true
	}
	return t
}()

// unescaped returns the text of the inside of a JSON string. Invalid escapes
// stay.
func unescaped(raw string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			b.WriteString(raw)
			return b.String()
		}
		b.WriteString(raw[:i])
		c := raw[i+1]
		raw = raw[i:]
		n := 2
		switch c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b', 'f':
			b.WriteByte(' ')
		case '"', '\\', '/':
			b.WriteByte(c)
		case 'u':
			var r rune
			if r, n = codePoint(raw); n == 0 {
				b.WriteString(raw[:2])
				n = 2
				break
			}
			b.WriteRune(r)
		default:
			b.WriteString(raw[:2])
		}
		raw = raw[n:]
	}
}

// codePoint decodes \uXXXX, or a surrogate pair of two. n is 0 if s does not
// begin with one.
func codePoint(s string) (r rune, n int) {
	high, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if high >= 0xd800 && high < 0xdc00 {
		if low, ok := hex4(s[6:]); ok && low >= 0xdc00 && low < 0xe000 {
			return (high-0xd800)<<10 | (low - 0xdc00) + 0x10000, 12
		}
		return utf8.RuneError, 6
	}
	return high, 6
}

func hex4(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, c := range []byte(s[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// argument reads the value that begins here. It joins a list of words, and
// returns only COMMAND of bash -lc COMMAND.
func (r *scanner) argument() (value string, number bool) {
	if r.at >= len(r.s) {
		return "", false
	}
	from := r.at
	switch r.s[from] {
	case '"':
		raw, escaped := r.str()
		if raw = firstBytes(raw, argBytes); escaped {
			raw = unescaped(raw)
		}
		return raw, false
	case '[':
		var words []string
		for r.at++; ; {
			if r.skip(); r.at >= len(r.s) || r.s[r.at] != '"' {
				break
			}
			raw, escaped := r.str()
			if raw = firstBytes(raw, argBytes); escaped {
				raw = unescaped(raw)
			}
			if len(words) < 64 {
				words = append(words, raw)
			}
			if r.skip(); r.at < len(r.s) && r.s[r.at] == ',' {
				r.at++
			}
		}
		if r.at < len(r.s) && r.s[r.at] == ']' {
			r.at++
			if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") {
				return words[2], false
			}
			return strings.Join(words, " "), false
		}
		r.at = from
	case '{':
	default:
		for r.at < len(r.s) && inScalar[r.s[r.at]] {
			r.at++
		}
		return r.s[from:r.at], true
	}
	r.skipValue()
	return firstBytes(r.s[from:r.at], argBytes), false
}

// skipValue passes over an object or a list.
func (r *scanner) skipValue() {
	for depth := 0; r.at < len(r.s); {
		switch r.s[r.at] {
		case '"':
			r.str()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if r.at++; depth == 0 {
			return
		}
	}
}
