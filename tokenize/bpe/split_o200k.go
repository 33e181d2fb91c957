// The pieces of o200k_base and o200k_harmony.
//
// The pattern, one alternative per line; the first that matches wins:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+

package bpe

import (
	"encoding/binary"
	"math/bits"
)

// nextO200k returns the end of the piece that starts at text[p], p if there is no
// UTF-8.
func nextO200k(text []byte, p int) int {
	if q := beforeWide(text, p); q >= 0 {
		if end := caseless(text, q); end > q {
			if end < len(text) && (text[end] >= 0x80 || planes01[text[end]]&letterOrMark != 0) {
				// Nothing of it goes back: each of these letters may end a word.
				end = restO200k(text, end, end)
			}
			if end < len(text) && text[end] == '\'' {
				end += contraction(text, end)
			}
			return end
		}
	} else if q := asciiWordO200k(text, p); q > p {
		return q
	}
	k, size := classAt(text, p)
	q := p
	switch {
	case k&letterOrMark != 0:
		// The pattern accepts a mark before a word as its sign, too; wherever
		// that matches, the mark as the first letter matches the same bytes.
	case k == classNumber:
		return numbers(text, p)
	case isNewline(text[p]):
		return whiteSpace(text, p)
	case k == classBroken:
		return p
	default:
		q += size
		var next class
		if q < len(text) {
			next, _ = classAt(text, q)
		}
		if next&letterOrMark != 0 {
			break
		}
		if k == classSpace && (text[p] != ' ' || q == len(text) || next != classOther) {
			return whiteSpace(text, p)
		}
		q = signs(text, q)
		for q < len(text) && (isNewline(text[q]) || text[q] == '/') {
			q++
		}
		return q
	}
	q = wordO200k(text, q)
	if q < len(text) && text[q] == '\'' {
		q += contraction(text, q)
	}
	return q
}

// beforeWide returns where a character of three bytes or more starts, at p or behind an
// ASCII sign or blank at p; -1 if neither.
func beforeWide(text []byte, p int) int {
	c := text[p]
	if c >= 0xE0 {
		return p
	}
	if p+1 < len(text) && text[p+1] >= 0xE0 && c < 0x80 && planes01[c]&(letterOrMark|isNumber) == 0 && !isNewline(c) {
		return p + 1
	}
	return -1
}

// asciiWordO200k is nextO200k for a word that begins with ASCII letters, perhaps
// behind an ASCII sign; it returns p if there is none.
func asciiWordO200k(text []byte, p int) int {
	s := p
	if c := text[p]; planes01[c]&letterOrMark == 0 {
		if c >= 0x80 || isNewline(c) || planes01[c] == classNumber {
			return p
		}
		s++
	}
	if s+8 > len(text) {
		return p
	}
	w := binary.LittleEndian.Uint64(text[s:])
	capitals := bits.TrailingZeros64(^between(w, 'A', 'Z'+1)&highBits) >> 3
	letters := bits.TrailingZeros64(^between(w, 'a', 'z'+1)&highBits&(^uint64(0)<<(8*uint(capitals)))) >> 3
	q := s + letters
	switch {
	case letters == 0:
		return p
	case q == len(text):
	case letters == capitals && (letters == 8 || text[q] >= 0x80):
		q = wordO200k(text, s)
	case letters == 8 || text[q] >= 0x80:
		q = lowerO200k(text, q)
	}
	if q < len(text) && text[q] == '\'' {
		q += contraction(text, q)
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
func wordO200k(text []byte, p int) int { return restO200k(text, p, 0) }

// restO200k is wordO200k from the middle of the upper part on, with the end of the last
// character in both sets, or 0.
func restO200k(text []byte, p, both int) int {
	for p < len(text) {
		if q := caseless(text, p); q > p {
			p, both = q, q
			continue
		}
		k, size := classAt(text, p)
		next := p + size
		if k&isUpper == 0 {
			if k&isLower != 0 {
				return lowerO200k(text, next)
			}
			break
		}
		p = next
		if k&isLower != 0 {
			both = p
		}
	}
	if both > 0 {
		return both
	}
	return p
}

// lowerO200k returns the end of [\p{Ll}\p{Lm}\p{Lo}\p{M}]* at text[p].
func lowerO200k(text []byte, p int) int {
	for p < len(text) {
		c := text[p]
		switch {
		case c < 0x80:
			if p+8 <= len(text) {
				n := bits.TrailingZeros64(^between(binary.LittleEndian.Uint64(text[p:]), 'a', 'z'+1)&highBits) >> 3
				p += n
				if n == 0 {
					return p
				}
			} else if 'a' <= c && c <= 'z' {
				p++
			} else {
				return p
			}
		case c < 0xE0:
			if c < 0xC2 || p+1 >= len(text) || text[p+1]&0xC0 != 0x80 ||
				planes01[rune(c&0x1F)<<6|rune(text[p+1]&0x3F)]&isLower == 0 {
				return p
			}
			p += 2
		default:
			k, size := classAt(text, p)
			if k&isLower == 0 {
				return p
			}
			p += size
		}
	}
	return p
}
