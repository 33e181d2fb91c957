// What the splitters need to know about a code point: is it a letter, and of
// which case, a mark, a number, white space, or something else.

package bpe

import "sync"

// A class is a set of bits, chosen so that the two letter sets of the o200k
// pattern, which overlap, are one bit each.
type class = uint8

const (
	isUpper  class = 1 << iota // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}: allowed in the upper part of a word
	isLower                    // \p{Ll}\p{Lm}\p{Lo}\p{M}: allowed in the lower part
	isMark                     // \p{M}
	isNumber                   // \p{N}
	isSpace                    // \s, which is White_Space
	isBroken                   // not UTF-8

	classOther  class = 0
	classUpper        = isUpper
	classLower        = isLower
	classLetter       = isUpper | isLower
	classMark         = isUpper | isLower | isMark
	classNumber       = isNumber
	classSpace        = isSpace
	classBroken       = isBroken
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
	for surrogate := 0xD800; surrogate < 0xE000; surrogate++ {
		planes01[surrogate] = classBroken
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

// classAt returns the class and the length in bytes of the character at text[p], or
// isBroken and 1.
func classAt(text []byte, p int) (class, int) {
	c := text[p]
	switch {
	case c < 0x80:
		return planes01[c], 1
	case c < 0xE0:
		if c >= 0xC2 && p+1 < len(text) && text[p+1]&0xC0 == 0x80 {
			return planes01[rune(c&0x1F)<<6|rune(text[p+1]&0x3F)], 2
		}
	case c < 0xF0:
		if p+2 < len(text) {
			b := text[p+1 : p+3]
			r := rune(c&0x0F)<<12 | rune(b[0]&0x3F)<<6 | rune(b[1]&0x3F)
			if b[0]&0xC0 == 0x80 && b[1]&0xC0 == 0x80 && r >= 0x800 {
				return planes01[r], 3
			}
		}
	case c < 0xF5:
		if p+3 < len(text) {
			b := text[p+1 : p+4]
			r := rune(c&0x07)<<18 | rune(b[0]&0x3F)<<12 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F)
			if b[0]&0xC0 == 0x80 && b[1]&0xC0 == 0x80 && b[2]&0xC0 == 0x80 && 0x10000 <= r && r <= 0x10FFFF {
				return classOf(r), 4
			}
		}
	}
	return classBroken, 1
}
