// Perfect hash tables: every key has a place of its own.
//
// Looking a word up must not wait: the next lookups can start while this one is on its
// way to memory, but only if no branch depends on its result. So there is exactly one
// place to look, and a comparison at the end.

package bpe

import (
	"cmp"
	"math/bits"
	"slices"
)

// A perfectHash maps each of a fixed set of keys to its own place below size, and any
// other key to some place; the caller compares.
//
// The method is hash and displace: the keys fall into small buckets, and each bucket
// has a number that moves its keys to places still free. The numbers are found by
// trying, the largest buckets first.
type perfectHash struct {
	moves []uint16 // by bucket
	shift uint     // of the hash, to the bucket
	size  uint64
}

// place returns the place of a key by its hash.
func (p *perfectHash) place(hash uint64) uint64 {
	return p.moved(hash, p.moves[hash>>p.shift])
}

func (p *perfectHash) moved(hash uint64, move uint16) uint64 {
	x := (hash ^ uint64(move)*mix2) * mix1
	return x >> 32 * p.size >> 32
}

// Odd numbers without pattern, for multiplicative hashing.
const (
	mix1 = 0x9E3779B97F4A7C15
	mix2 = 0xC2B2AE3D27D4EB4F
)

// newPerfectHash finds places for keys with these hashes, which must be different.
func newPerfectHash(hashes []uint64) perfectHash {
	n := len(hashes)
	b := bits.Len(uint(n / 5))
	p := perfectHash{
		moves: make([]uint16, 1<<b),
		shift: uint(64 - b),
		size:  uint64(n + n/12 + 1),
	}
	// The hashes by bucket, and the buckets by size.
	start := make([]int32, len(p.moves)+1)
	for _, h := range hashes {
		start[h>>p.shift+1]++
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	sorted := make([]uint64, n)
	next := slices.Clone(start)
	for _, h := range hashes {
		sorted[next[h>>p.shift]] = h
		next[h>>p.shift]++
	}
	order := make([]int32, len(p.moves))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(start[b+1]-start[b], start[a+1]-start[a]), cmp.Compare(a, b))
	})
	taken := make([]uint64, p.size/64+1)
	for _, bucket := range order {
		keys := sorted[start[bucket]:start[bucket+1]]
		p.moves[bucket] = p.fit(keys, taken)
	}
	return p
}

// fit finds the move for one bucket and takes the places.
func (p *perfectHash) fit(keys []uint64, taken []uint64) uint16 {
next:
	for move := range 1 << 16 {
		for i, k := range keys {
			at := p.moved(k, uint16(move))
			if taken[at/64]>>(at%64)&1 != 0 {
				for _, k := range keys[:i] {
					at := p.moved(k, uint16(move))
					taken[at/64] &^= 1 << (at % 64)
				}
				continue next
			}
			taken[at/64] |= 1 << (at % 64)
		}
		return uint16(move)
	}
	panic("BUG: two keys of a vocabulary have one hash")
}
