// Words, which are short pieces, and the counts of those that were seen lately.
//
// Text repeats its words. Looking one up among those of late, in a near cache of the
// processor, is faster than among all tokens, and much faster than merging it.

package bpe

import (
	"encoding/binary"
	"math/bits"
)

const (
	wordBits = 14 // logarithm of the number of words remembered
	maxWord  = 15 // bytes of the longest
)

// A word is a piece of up to maxWord bytes: the first eight in one number; the others in
// another, with the length in bits 56 to 59 and the count in bits 60 to 63.
type word struct{ first, rest uint64 }

const countShift = 60

// wordAt returns the word of n bytes at text[p], without a count.
func wordAt(text []byte, p, n int) word {
	if p+16 > len(text) {
		var end [16]byte
		copy(end[:], text[p:p+n])
		text, p = end[:], 0
	}
	return word{
		binary.LittleEndian.Uint64(text[p:]) & (1<<(8*uint(n)) - 1),
		binary.LittleEndian.Uint64(text[p+8:])&(1<<(8*uint(max(0, n-8)))-1) | uint64(n)<<56,
	}
}

// hash returns a number whose high bits are as good as random.
func (w word) hash() uint64 {
	high, low := bits.Mul64(w.first^mix, w.rest^0xC2B2AE3D27D4EB4F)
	return (high ^ low) * mix
}
