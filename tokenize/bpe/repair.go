// Text that is not valid UTF-8: U+FFFD replaces the bytes that are not characters.

package bpe

import (
	"slices"
	"sync"
	"unicode/utf8"
)

const replacement = "\uFFFD"

// appendRepaired appends the text to dst, with U+FFFD in place of invalid bytes.
func appendRepaired(dst, text []byte) []byte {
	dst = slices.Grow(dst, repairedLen(text))
	for len(text) > 0 {
		n := validPrefix(text)
		dst = append(dst, text[:n]...)
		text = text[n:]
		if len(text) > 0 {
			dst = append(dst, replacement...)
			text = text[brokenLen(text):]
		}
	}
	return dst
}

// repairedLen returns how many bytes appendRepaired appends. Room for them is made at once: a client may send
// megabytes that grow threefold.
func repairedLen(text []byte) (n int) {
	for len(text) > 0 {
		valid := validPrefix(text)
		n += valid
		text = text[valid:]
		if len(text) > 0 {
			n += len(replacement)
			text = text[brokenLen(text):]
		}
	}
	return n
}

// validPrefix returns the length of the longest valid prefix.
func validPrefix(text []byte) int {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// brokenLen returns how many bytes at the start of the text, which does not start with
// a valid character, one U+FFFD replaces: the longest beginning of a character, or one
// byte if no character begins so (Unicode 16.0, section 3.9, "Substitution of
// Maximal Subparts"; WHATWG encoding, UTF-8 decoder).
func brokenLen(text []byte) int {
	low, high := byte(0x80), byte(0xBF) // bounds of the second byte
	more := 0                           // how many bytes should follow the first
	switch c := text[0]; {
	case 0xC2 <= c && c <= 0xDF:
		more = 1
	case 0xE0 <= c && c <= 0xEF:
		more = 2
		switch c {
		case 0xE0:
			low = 0xA0 // below: could be written in two bytes
		case 0xED:
			high = 0x9F // above: surrogates
		}
	case 0xF0 <= c && c <= 0xF4:
		more = 3
		switch c {
		case 0xF0:
			low = 0x90 // below: could be written in three bytes
		case 0xF4:
			high = 0x8F // above: beyond U+10FFFF
		}
	}
	n := 1
	for n <= more && n < len(text) && low <= text[n] && text[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return n
}

// buffers are reused for text that has to be rewritten before it is counted.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keepBuffer is the largest buffer that is kept for reuse.
const keepBuffer = 4 << 20

func putBuffer(b *[]byte) {
	if cap(*b) <= keepBuffer {
		buffers.Put(b)
	}
}

func (e *Encoding) countRepaired(text []byte) int {
	b := buffers.Get().(*[]byte)
	defer putBuffer(b)
	*b = appendRepaired((*b)[:0], text)
	n, _ := e.count(*b)
	return n
}
