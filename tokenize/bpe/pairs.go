// The merges: which two neighbouring tokens become one.

package bpe

import "math/bits"

// rankBits is enough for every rank and one number more, see noToken.
const rankBits = 18

// noToken is the result of two tokens that do not merge. It is greater than every rank.
const noToken = 1<<rankBits - 1

// A pairTable finds the token that two tokens merge into. It is a hash table with open
// addressing: a place holds the left part, the right part and, in its low bits, the
// token. Half of the places or more are empty. Only one token in seven is ever a right
// part, and for all others the table is not asked.
type pairTable struct {
	rights [1 << rankBits / 64]uint64 // a bit per token: set if it is ever a right part
	places []uint64
	shift  uint
}

const emptyPlace = ^uint64(0)

func newPairTable(v *vocab) *pairTable {
	b := bits.Len(uint(2 * v.len()))
	t := &pairTable{places: make([]uint64, 1<<b), shift: uint(64 - b)}
	for i := range t.places {
		t.places[i] = emptyPlace
	}
	for token := uint64(byteTokens); token < uint64(v.len()); token++ {
		r := v.right[token]
		t.rights[r/64] |= 1 << (r % 64)
		pair := uint64(v.left[token])<<rankBits | uint64(r)
		at := pair * mix >> t.shift
		for t.places[at] != emptyPlace {
			at = (at + 1) % uint64(len(t.places))
		}
		t.places[at] = pair<<rankBits | token
	}
	return t
}

// join returns the token that l and r merge into, or noToken.
func (t *pairTable) join(l, r uint32) uint32 {
	if t.rights[r/64]>>(r%64)&1 == 0 {
		return noToken
	}
	pair := uint64(l)<<rankBits | uint64(r)
	for at := pair * mix >> t.shift; ; at = (at + 1) % uint64(len(t.places)) {
		switch place := t.places[at]; {
		case place>>rankBits == pair:
			return uint32(place) & noToken
		case place == emptyPlace:
			return noToken
		}
	}
}

// mix is an odd number without pattern, for multiplicative hashing.
const mix = 0x9E3779B97F4A7C15
