// Many small hash tables in one slice.

package bpe

import "math/bits"

// A nest says where in a slice the small hash table of one owner is. A key is in one
// of two places of it, so that two comparisons tell whether it is there, without a
// branch to guess. What belongs together stands together: the tables of one script
// fill a small part of the slice, and a text needs little of the near caches.
type nest uint32

const (
	nestStart = 0  // 19 bits: the first place
	nestShift = 19 // 4 bits: logarithm of the size, at most mostBits
	nestSeed  = 23 // 9 bits: of the hash function

	// mostBits is the logarithm of the largest size: the space alone stands before
	// thousands of characters.
	mostBits = 1<<(nestSeed-nestShift) - 1
)

// places returns the two places in the slice where the key may be.
func (n nest) places(key uint32) (i, j uint32) {
	h := (key ^ uint32(n>>nestSeed)<<20) * 0x9E3779B1
	shift := 32 - uint(n>>nestShift&15)
	start := uint32(n) & (1<<nestShift - 1)
	return start + uint32(uint64(h)>>shift), start + uint32(uint64(h<<12)>>shift)
}

// newNest makes a nest for the keys, at least one, from start on. For each place it
// says which key is there, -1 for none.
func newNest(start int, keys []uint32) (n nest, holds []int32) {
	k := uint(len(keys))
	b := bits.Len(k - 1) // as many places as keys, or few more
	if k > 16 {
		b = bits.Len(2*k + k/8 - 1) // that would hardly be found; twice as many is easy
	}
	for ; ; b++ {
		if start >= 1<<nestShift || b > mostBits {
			panic("BUG: keys find no places in a nest")
		}
		holds = make([]int32, 1<<b)
		for seed := range nest(1 << (32 - nestSeed)) {
			n := nest(start)<<nestStart | nest(b)<<nestShift | seed<<nestSeed
			if n.settle(keys, holds) {
				return n, holds
			}
		}
	}
}

// settle finds a place for every key. A key whose places are taken pushes another
// one out, which goes to its other place, and so on.
func (n nest) settle(keys []uint32, holds []int32) bool {
	for i := range holds {
		holds[i] = -1
	}
	start := uint32(n) & (1<<nestShift - 1)
	for k := range keys {
		key := int32(k)
		at, _ := n.places(keys[key])
		for pushed := 0; holds[at-start] >= 0; pushed++ {
			if pushed == 100 {
				return false
			}
			key, holds[at-start] = holds[at-start], key
			i, j := n.places(keys[key])
			at ^= i ^ j
		}
		holds[at-start] = key
	}
	return true
}
