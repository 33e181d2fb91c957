// How a text is cut into pieces before anything is merged: what the patterns of the
// encodings share. split_o200k.go and split_cl100k.go have the rest.
//
// The reference cuts with a regular expression. Here the same cuts are made by
// hand, in two layers: block.go cuts 64 bytes at a time, and an exact function per
// encoding, next, cuts one piece of any text.

package bpe

import (
	"encoding/binary"
	"math/bits"
)

// batchSize is the largest number of pieces that are cut before they are looked up, so
// that the processor can overlap the lookups.
const batchSize = 256

// split cuts pieces from text[p:] and writes where each ends. It returns how many it
// cut, at least one while there is text, and false at bytes that are not UTF-8.
func (e *Encoding) split(text []byte, p int, ends *[batchSize]int) (n int, ok bool) {
	for n <= batchSize-64 && p < len(text) { // a block has up to 62
		var starts uint64
		if text[p] < 0xE0 && (p+1 == len(text) || text[p+1] < 0xE0) { // else a block would end at once
			starts = e.blockStarts(text[p:])
		}
		if starts != 0 {
			// Four at a time; what is too much is overwritten later.
			for s, n := starts, uint8(n); s != 0; n += 4 {
				ends[n] = p + bits.TrailingZeros64(s)
				s &= s - 1
				ends[n+1] = p + bits.TrailingZeros64(s)
				s &= s - 1
				ends[n+2] = p + bits.TrailingZeros64(s)
				s &= s - 1
				ends[n+3] = p + bits.TrailingZeros64(s)
				s &= s - 1
			}
			n += bits.OnesCount64(starts)
			p = ends[n-1]
			continue
		}
		var q int
		if e.cl100k {
			q = nextCl100k(text, p)
		} else {
			q = nextO200k(text, p)
		}
		if q == p {
			return n, false
		}
		ends[n], p = q, q
		n++
	}
	return n, true
}

// Eight bytes at a time.
const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
)

// between sets the top bit of every byte b of w with first <= b < end, for 0 < first <
// end <= 0x80.
func between(w uint64, first, end uint64) uint64 {
	low := w &^ highBits
	return (low + (0x80-first)*ones) &^ (low + (0x80-end)*ones) &^ w & highBits
}

// run returns the end of the run of ASCII letters from first to last at text[p]; fold
// is OR-ed to each byte before.
func run(text []byte, p int, first, last byte, fold byte) int {
	for p+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[p:]) | uint64(fold)*ones
		n := bits.TrailingZeros64(^between(w, uint64(first), uint64(last)+1)&highBits) >> 3
		p += n
		if n < 8 {
			return p
		}
	}
	for p < len(text) && first <= text[p]|fold && text[p]|fold <= last {
		p++
	}
	return p
}

// caseless returns the end of the run of letters without case that starts at text[p],
// as far as each takes three bytes, as in Chinese, Japanese and Korean, and a byte
// follows.
func caseless(text []byte, p int) int {
	for p+4 <= len(text) {
		w := binary.LittleEndian.Uint32(text[p:])
		if w&0x00C0C0F0 != 0x008080E0 {
			break
		}
		r := w<<12&0xF000 | w>>2&0x0FC0 | w>>16&0x3F
		if r < 0x800 || planes01[r] != classLetter {
			break
		}
		p += 3
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

// numbers returns the end of \p{N}{1,3} at text[p], which is a number.
func numbers(text []byte, p int) int {
	for n := 0; n < 3 && p < len(text); n++ {
		k, size := classAt(text, p)
		if k != classNumber {
			break
		}
		p += size
	}
	return p
}

// signs returns the end of [^\s\p{L}\p{N}]+ at text[p].
func signs(text []byte, p int) int {
	for p < len(text) {
		k, size := classAt(text, p)
		if k != classOther && k != classMark {
			break
		}
		p += size
	}
	return p
}
