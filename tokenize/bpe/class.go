// What the splitters need to know about a code point: is it a letter, and of
// which case, a mark, a number, white space, or something else.

package bpe

import (
	"sync"
	"unicode/utf8"
)

// A class is a set of bits, chosen so that the two letter sets of the o200k
// pattern, which overlap, are one bit each.
type class = uint8

const (
	isUpper  class = 1 << iota // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}: allowed in the upper part of a word
	isLower                    // \p{Ll}\p{Lm}\p{Lo}\p{M}: allowed in the lower part
	isMark                     // \p{M}
	isNumber                   // \p{N}
	isSpace                    // \s, which is White_Space

	classOther  class = 0
	classUpper        = isUpper
	classLower        = isLower
	classLetter       = isUpper | isLower
	classMark         = isUpper | isLower | isMark
	classNumber       = isNumber
	classSpace        = isSpace
)

// letterOrMark are the bits that every letter and every mark has at least one of.
const letterOrMark = isUpper | isLower

// A classRange is a run of code points, first and last, of one class.
type classRange struct {
	first, last rune
	class       class
}

//go:generate go run ./internal/genclass

// planes01 holds the classes of the code points below U+20000: planes 0 and 1,
// which is nearly all text. fillClasses fills it once, before any splitter runs.
var planes01 [0x20000]class

var fillClasses = sync.OnceFunc(func() {
	for _, r := range classRanges {
		for cp := r.first; cp <= r.last && int(cp) < len(planes01); cp++ {
			planes01[cp] = r.class
		}
	}
})

// classOf returns the class of any code point.
func classOf(cp rune) class {
	if uint32(cp) < uint32(len(planes01)) {
		return planes01[cp]
	}
	// Planes 2 to 16 are a dozen ranges at the end of the list.
	for i := len(classRanges) - 1; classRanges[i].last >= 0x20000; i-- {
		if r := &classRanges[i]; r.first <= cp && cp <= r.last {
			return r.class
		}
	}
	return classOther
}

// classAt returns the class and the length in bytes of the character at text[p].
func classAt(text []byte, p int) (class, int) {
	if c := text[p]; c < utf8.RuneSelf {
		return planes01[c], 1
	}
	r, size := utf8.DecodeRune(text[p:])
	return classOf(r), size
}
