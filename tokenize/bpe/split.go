// How a text is cut into pieces before anything is merged. The reference cuts with a
// regular expression. Here the same cuts are made by hand, in valid UTF-8.

package bpe

import (
	"bytes"
	"unicode/utf8"
)

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
	// The pattern of o200k_base accepts a mark before a word as its sign, too; wherever
	// that matches, the mark as the first letter matches the same bytes.
	letter := isLetter | isMark
	if e.cl100k {
		if n := contraction(text, p); n > 0 {
			return p + n
		}
		letter = isLetter
	}
	k, size := classAt(text, p)
	switch {
	case k&letter != 0:
		return e.word(text, p)
	case k == isNumber:
		return numbers(text, p)
	case isNewline(text[p]):
		return whiteSpace(text, p)
	}
	q, next := p+size, isSpace
	if q < len(text) {
		next, _ = classAt(text, q)
	}
	switch {
	case next&letter != 0:
		return e.word(text, q)
	case k == isSpace && (text[p] != ' ' || next&sign == 0):
		return whiteSpace(text, p)
	}
	q = run(text, q, sign)
	for q < len(text) && (isNewline(text[q]) || text[q] == '/' && !e.cl100k) {
		q++
	}
	return q
}

// sign is [^\s\p{L}\p{N}].
const sign = isOther | isMark

// run returns the end of the characters of a set that start at text[p].
func run(text []byte, p int, set class) int {
	for p < len(text) {
		k, size := planes01[text[p]], 1
		if text[p] >= utf8.RuneSelf {
			k, size = classAt(text, p)
		}
		if k&set == 0 {
			break
		}
		p += size
	}
	return p
}

// word returns the end of the word whose letters start at text[p]. The first
// alternative of o200k_base wants at least one character of the lower set, and gives
// back what its upper part took until it finds one:
//
//   - upper part, then a small letter: that and all that follow of the lower set;
//   - else up to the last character that is in both sets, if there is one;
//   - else, by the second alternative, the whole upper part.
func (e *Encoding) word(text []byte, p int) int {
	if e.cl100k {
		return run(text, p, isLetter)
	}
	upper := run(text, p, isUpper)
	end := run(text, upper, isLower)
	for q := upper; end == upper && q > p; {
		r, size := utf8.DecodeLastRune(text[:q])
		if classOf(r)&isLower != 0 {
			end = q
			break
		}
		q -= size
	}
	return end + contraction(text, end)
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
	end := run(text, p, isSpace)
	if newline := bytes.LastIndexAny(text[p:end], "\r\n"); newline >= 0 {
		return p + newline + 1
	}
	if _, size := utf8.DecodeLastRune(text[:end]); end < len(text) && end-size > p {
		return end - size
	}
	return end
}

// numbers returns the end of \p{N}{1,3} at text[p], which is a number.
func numbers(text []byte, p int) int {
	for n := 0; n < 3 && p < len(text); n++ {
		k, size := classAt(text, p)
		if k != isNumber {
			break
		}
		p += size
	}
	return p
}
