// How a text is cut into pieces before anything is merged.
//
// The reference cuts with a regular expression. Here the same cuts are made by hand, in
// two layers: block.go cuts 64 bytes at a time, and an exact function cuts one piece of any
// text. Both take valid UTF-8.

package bpe

import (
	"math/bits"
	"unicode/utf8"
)

// split cuts a text, and calls piece with where each piece begins and ends.
func (e *Encoding) split(text []byte, piece func(p, end int)) {
	for p := 0; p < len(text); {
		begin := p
		if text[p] < utf8.RuneSelf && (p+1 == len(text) || text[p+1] < utf8.RuneSelf) { // else a block would end at once
			for starts := e.blockStarts(text[p:]); starts != 0; starts &= starts - 1 {
				end := begin + bits.TrailingZeros64(starts)
				piece(p, end)
				p = end
			}
		}
		if p == begin {
			p = e.next(text, begin)
			piece(begin, p)
		}
	}
}

// next returns the end of the piece that starts at text[p]. The pattern of o200k_base,
// one alternative per line; the first that matches wins:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// That of cl100k_base has the same last three, and before them:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
func (e *Encoding) next(text []byte, p int) int {
	noLetter := class(0)
	if e.cl100k {
		if n := contraction(text, p); n > 0 {
			return p + n
		}
		noLetter = isMark
	}
	k, size := classAt(text, p)
	q := p
	switch {
	case k&classLetter != 0 && k&noLetter == 0:
		// The pattern of o200k_base accepts a mark before a word as its sign, too;
		// wherever that matches, the mark as the first letter matches the same bytes.
	case k == classNumber:
		for n := 0; n < 3 && k == classNumber; n++ {
			if q += size; q == len(text) {
				break
			}
			k, size = classAt(text, q)
		}
		return q
	case isNewline(text[p]):
		return whiteSpace(text, p)
	default:
		q += size
		next := classSpace
		if q < len(text) {
			next, _ = classAt(text, q)
		}
		if next&classLetter != 0 && next&noLetter == 0 {
			break
		}
		if k == classSpace && (text[p] != ' ' || next != classOther && next != classMark) {
			return whiteSpace(text, p)
		}
		for q < len(text) {
			if k, size = classAt(text, q); k != classOther && k != classMark {
				break
			}
			q += size
		}
		for q < len(text) && (isNewline(text[q]) || text[q] == '/' && !e.cl100k) {
			q++
		}
		return q
	}
	if !e.cl100k {
		q = wordO200k(text, q)
		return q + contraction(text, q)
	}
	for q < len(text) {
		k, size := classAt(text, q)
		if k&classLetter == 0 || k&isMark != 0 {
			break
		}
		q += size
	}
	return q
}

// wordO200k returns the end of the letters that start at text[p], which is a letter
// or a mark. The first alternative of the pattern wants at least one character of
// the lower set, and gives back what its upper part took until it finds one:
//
//   - upper part, then a small letter: that and all that follow of the lower set;
//   - else up to the last character that is in both sets, if there is one;
//   - else, by the second alternative, the whole upper part.
func wordO200k(text []byte, p int) int {
	both := 0 // the end of the last character in both sets
	for p < len(text) {
		k, size := classAt(text, p)
		if k&classLetter == isLower {
			for p < len(text) && k&isLower != 0 {
				if p += size; p < len(text) {
					k, size = classAt(text, p)
				}
			}
			return p
		}
		if k&isUpper == 0 {
			break
		}
		p += size
		if k&isLower != 0 {
			both = p
		}
	}
	if both > 0 {
		return both
	}
	return p
}

func isNewline(c byte) bool { return c == '\n' || c == '\r' }

// contraction returns the length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at text[p], or 0. Case
// folding makes U+017F, the long s, an s too.
func contraction(text []byte, p int) int {
	if len(text) < p+2 || text[p] != '\'' {
		return 0
	}
	var next byte
	if p+2 < len(text) {
		next = text[p+2]
	}
	switch c := text[p+1] | 0x20; {
	case c == 's' || c == 't' || c == 'm' || c == 'd':
		return 2
	case c == 'l' && next|0x20 == 'l', (c == 'r' || c == 'v') && next|0x20 == 'e':
		return 3
	case text[p+1] == 0xC5 && next == 0xBF:
		return 3
	}
	return 0
}

// whiteSpace returns the end of the piece that starts with white space at text[p] when
// no word and no sign takes that white space: \s*[\r\n]+|\s+(?!\S)|\s+.
//
// In words: up to the last newline of the run of white space if it has one; else
// all of it at the end of the text; else all but its last character, which the
// next piece may want; else, when it is a single character, that.
func whiteSpace(text []byte, p int) int {
	q, last, newline := p, p, 0
	for q < len(text) {
		k, size := classAt(text, q)
		if k != classSpace {
			break
		}
		last = q
		q += size
		if isNewline(text[last]) {
			newline = q
		}
	}
	switch {
	case newline > 0:
		return newline
	case q == len(text) || last == p:
		return q
	}
	return last
}
