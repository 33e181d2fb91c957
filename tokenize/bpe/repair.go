// Text that is not valid UTF-8: U+FFFD replaces the bytes that are not characters.

package bpe

import (
	"slices"
	"unicode/utf8"
)

// appendRepaired appends the text to dst, with U+FFFD in place of invalid bytes: one for
// the longest beginning of a character, or for one byte that begins none (Unicode 16.0,
// section 3.9, "Substitution of Maximal Subparts"; WHATWG encoding, UTF-8 decoder).
func appendRepaired(dst, text []byte) []byte {
	dst = slices.Grow(dst, 3*len(text)) // at once: a client may send megabytes
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			for size = min(3, len(text)); size > 1 && utf8.FullRune(text[:size]); {
				size--
			}
		}
		dst = utf8.AppendRune(dst, r)
		text = text[size:]
	}
	return dst
}
