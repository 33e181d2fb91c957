// The merges: which two neighbouring tokens become one.

package bpe

import (
	"cmp"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// noToken is the result of two tokens that do not merge. It is greater than every rank.
const noToken = 1<<rankBits - 1

// A pairTable finds the token that two tokens merge into. Each left part has a table of
// its merges.
//
// Merging asks for one token after the other and cannot go on without the answer, so
// the answer should be in a near cache. Only one token in seven is ever a right part.
// For all others the lookup goes to the first place, which is empty.
type pairTable struct {
	rights  *[1 << rankBits / 32]uint32 // a bit per token: set if it is ever a right part
	lefts   []cuckoo                    // per token; at place 0 if it is never a left part, as is the extra last one
	entries []pairEntry
}

// A pairEntry is a right part and, in its low bits, the token. Empty places have
// noToken.
type pairEntry uint64

const emptyEntry pairEntry = noToken<<rankBits | noToken

// join returns the token that l and r merge into, or noToken.
func (t *pairTable) join(l, r uint32) uint32 {
	n := t.lefts[l] & -cuckoo(t.rights[r/32%(1<<rankBits/32)]>>(r%32)&1)
	i, j := n.places(r)
	a, b := t.entries[i], t.entries[j]
	found := emptyEntry
	if uint32(b>>rankBits) == r {
		found = b
	}
	if uint32(a>>rankBits) == r {
		found = a
	}
	return uint32(found) & noToken
}

// nothing returns a left part that merges with nothing. As a right part, noToken does
// not merge.
func (t *pairTable) nothing() uint32 { return uint32(len(t.lefts) - 1) }

func newPairTable(v *vocab) *pairTable {
	index := indexMerges(v, v.left)
	t := &pairTable{
		rights:  new([1 << rankBits / 32]uint32),
		lefts:   make([]cuckoo, v.len()+1),
		entries: append(make([]pairEntry, 0, 9*v.len()/4), emptyEntry),
	}
	for _, r := range v.right[byteTokens:] {
		t.rights[r/32] |= 1 << (r % 32)
	}
	var lefts []uint32
	for l := range uint32(v.len()) {
		if len(index.of(l)) > 0 {
			lefts = append(lefts, l)
		}
	}
	slices.SortFunc(lefts, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(script(v.token(a)), script(v.token(b))), cmp.Compare(a, b))
	})
	var rights []uint32
	for _, l := range lefts {
		of := index.of(l)
		rights = rights[:0]
		for _, m := range of {
			rights = append(rights, v.right[m])
		}
		n, holds := newCuckoo(len(t.entries), rights)
		t.lefts[l] = n
		for _, i := range holds {
			if i < 0 {
				t.entries = append(t.entries, emptyEntry)
			} else {
				t.entries = append(t.entries, pairEntry(rights[i])<<rankBits|pairEntry(of[i]))
			}
		}
	}
	return t
}

// script returns the page of the first character that is not ASCII. Sorting by it keeps
// the tokens of one script together.
func script(token []byte) rune {
	for i, c := range token {
		if c >= utf8.RuneSelf {
			r, _ := utf8.DecodeRune(token[i:])
			return r >> 7
		}
	}
	return 0
}

// A cuckoo says where in a slice a small hash table is. A key is at one of two places
// of the table, so two comparisons find it, without a branch to predict. The tables of
// one script are next to each other, so that a text needs little of the near caches.
type cuckoo uint32

const (
	cuckooStart = 0  // 19 bits: the first place
	cuckooShift = 19 // 4 bits: logarithm of the size, at most maxCuckooBits
	cuckooSeed  = 23 // 9 bits: of the hash function

	// maxCuckooBits is the logarithm of the largest size: the space alone precedes
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
