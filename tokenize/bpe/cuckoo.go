// Many small cuckoo hash tables in one slice.

package bpe

import "math/bits"

// A cuckoo says where in a slice a small hash table is. A key is at one of two places
// of the table, so two comparisons find it, without a branch to predict. The tables of
// one script are next to each other, so that a text needs little of the near caches.
type cuckoo uint32

const (
	cuckooStart = 0  // 19 bits: the first place
	cuckooShift = 19 // 4 bits: logarithm of the size, at most maxCuckooBits
	cuckooSeed  = 23 // 9 bits: of the hash function

	// maxCuckooBits is the logarithm of the largest size: the space alone stands before
	// thousands of characters.
	maxCuckooBits = 1<<(cuckooSeed-cuckooShift) - 1
)

// places returns the two places in the slice where a key may be.
func (n cuckoo) places(key uint32) (i, j uint32) {
	h := (key ^ uint32(n>>cuckooSeed)<<20) * 0x9E3779B1
	shift := 32 - uint(n>>cuckooShift&15)
	start := uint32(n) & (1<<cuckooShift - 1)
	return start + uint32(uint64(h)>>shift), start + uint32(uint64(h<<12)>>shift)
}

// newCuckoo returns a table from start on for at least one key, and the key at each
// place, or -1.
func newCuckoo(start int, keys []uint32) (n cuckoo, holds []int32) {
	k := uint(len(keys))
	b := bits.Len(k - 1) // as many places as keys, or a few more
	if k > 16 {
		b = bits.Len(2*k + k/8 - 1) // fewer would hardly do; twice as many is easy
	}
	for ; ; b++ {
		if start >= 1<<cuckooShift || b > maxCuckooBits {
			panic("BUG: keys find no places in a cuckoo")
		}
		holds = make([]int32, 1<<b)
		for seed := range cuckoo(1 << (32 - cuckooSeed)) {
			n := cuckoo(start)<<cuckooStart | cuckoo(b)<<cuckooShift | seed<<cuckooSeed
			if n.insert(keys, holds) {
				return n, holds
			}
		}
	}
}

// insert places every key, and reports whether there was a place for each. A key whose
// place is taken pushes out the key there, which goes to its other place, and so on.
func (n cuckoo) insert(keys []uint32, holds []int32) bool {
	for i := range holds {
		holds[i] = -1
	}
	start := uint32(n) & (1<<cuckooShift - 1)
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
