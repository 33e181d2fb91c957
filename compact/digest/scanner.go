package digest

import (
	"strconv"
	"strings"
	"unicode/utf16"
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
		raw = raw[i:]
		n := 2
		if simple := strings.IndexByte(escapes, raw[1]); simple >= 0 {
			b.WriteByte(unescapes[simple])
		} else if r, size := codePoint(raw); size > 0 {
			b.WriteRune(r)
			n = size
		} else {
			b.WriteString(raw[:n])
		}
		raw = raw[n:]
	}
}

// The bytes after a backslash, and what they mean: of \b and \f, a blank.
const (
	escapes   = `ntrbf"\/`
	unescapes = "\n\t\r  \"\\/"
)

// codePoint decodes \uXXXX, or a surrogate pair of two. n is 0 if s does not
// begin with one.
func codePoint(s string) (r rune, n int) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if low, ok := hex4(s[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
		return utf16.DecodeRune(r, low), 12
	}
	return r, 6 // half of a pair is written as U+FFFD
}

func hex4(s string) (r rune, ok bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(n), err == nil
}

// shortText reads the string that begins here and returns its first bytes,
// unescaped.
func (r *scanner) shortText() string {
	raw, escaped := r.str()
	if raw = firstBytes(raw, argBytes); escaped {
		raw = unescaped(raw)
	}
	return raw
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
		return r.shortText(), false
	case '[':
		var words []string
		for r.at++; ; {
			if r.skip(); r.at >= len(r.s) || r.s[r.at] != '"' {
				break
			}
			if word := r.shortText(); len(words) < 64 {
				words = append(words, word)
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
