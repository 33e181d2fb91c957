// Which pieces are tokens: most are, and then nothing has to be merged.

package bpe

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A pieceTable finds the token that is exactly a given piece. The piece itself, packed
// into one to three words with its length, is the key, so that comparing words is
// enough, without the list of tokens.
type pieceTable struct {
	short      perfectHash // 1 to 7 bytes
	shortKeys  []shortKey
	shortToken []uint32

	mid      perfectHash // 8 to 15 bytes
	midKeys  []midKey
	midToken []uint32

	long      perfectHash // 16 to 24 bytes
	longKeys  []longKey
	longToken []uint32

	longest map[string]uint32 // a few hundred: runs of blanks and signs, mostly
}

// A shortKey is a piece of 1 to 7 bytes in the low bytes, its length in the top byte.
type shortKey = uint64

// A midKey is a piece of 8 to 15 bytes: the first 8, then the others in the low bytes
// and the length in the top byte.
type midKey struct{ first, rest uint64 }

// A longKey is a piece of 16 to 24 bytes: the first 8, the next 8, the last 8.
type longKey struct{ first, second, last, size uint64 }

const (
	maxShort = 7
	maxMid   = 15
	maxLong  = 24
)

func newPieceTable(v *vocab) *pieceTable {
	t := &pieceTable{longest: make(map[string]uint32)}
	var short, mid, long []uint32 // tokens
	var shortHash, midHash, longHash []uint64
	for id := range uint32(v.len()) {
		piece := v.token(id)
		switch n := len(piece); {
		case n <= maxShort:
			short, shortHash = append(short, id), append(shortHash, hashShort(keyOfShort(piece)))
		case n <= maxMid:
			mid, midHash = append(mid, id), append(midHash, hashMid(keyOfMid(piece)))
		case n <= maxLong:
			long, longHash = append(long, id), append(longHash, hashLong(keyOfLong(piece)))
		default:
			t.longest[string(piece)] = id
		}
	}
	t.short = newPerfectHash(shortHash)
	t.shortKeys, t.shortToken = make([]shortKey, t.short.size), make([]uint32, t.short.size)
	for i, id := range short {
		at := t.short.place(shortHash[i])
		t.shortKeys[at], t.shortToken[at] = keyOfShort(v.token(id)), id
	}
	t.mid = newPerfectHash(midHash)
	t.midKeys, t.midToken = make([]midKey, t.mid.size), make([]uint32, t.mid.size)
	for i, id := range mid {
		at := t.mid.place(midHash[i])
		t.midKeys[at], t.midToken[at] = keyOfMid(v.token(id)), id
	}
	t.long = newPerfectHash(longHash)
	t.longKeys, t.longToken = make([]longKey, t.long.size), make([]uint32, t.long.size)
	for i, id := range long {
		at := t.long.place(longHash[i])
		t.longKeys[at], t.longToken[at] = keyOfLong(v.token(id)), id
	}
	return t
}

// keyOfShort packs a piece of 1 to 7 bytes.
func keyOfShort(piece []byte) shortKey {
	k := uint64(len(piece)) << 56
	for i, c := range piece {
		k |= uint64(c) << (8 * i)
	}
	return k
}

// keyOfMid packs a piece of 8 to 15 bytes. The last 8 bytes are read as a word and
// those that the first word has already are shifted out.
func keyOfMid(piece []byte) midKey {
	n := len(piece)
	last := binary.LittleEndian.Uint64(piece[n-8:])
	return midKey{binary.LittleEndian.Uint64(piece), last>>(8*uint(16-n)) | uint64(n)<<56}
}

// keyOfLong packs a piece of 16 to 24 bytes.
func keyOfLong(piece []byte) longKey {
	n := len(piece)
	return longKey{
		binary.LittleEndian.Uint64(piece),
		binary.LittleEndian.Uint64(piece[8:]),
		binary.LittleEndian.Uint64(piece[n-8:]),
		uint64(n),
	}
}

func hashShort(k shortKey) uint64 { return k * mix1 }

func hashMid(k midKey) uint64 {
	h, l := bits.Mul64(k.first^mix1, k.rest^mix2)
	return (h ^ l) * mix1
}

func hashLong(k longKey) uint64 {
	h, l := bits.Mul64(k.first^mix1, k.second^mix2)
	h2, l2 := bits.Mul64(k.last^mix2, h^l^k.size)
	return (h2 ^ l2) * mix1
}

// find returns the token that is the piece.
func (t *pieceTable) find(piece []byte) (token uint32, ok bool) {
	switch n := len(piece); {
	case n <= maxShort:
		k := keyOfShort(piece)
		at := t.short.place(hashShort(k))
		return t.shortToken[at], t.shortKeys[at] == k
	case n <= maxMid:
		k := keyOfMid(piece)
		at := t.mid.place(hashMid(k))
		return t.midToken[at], t.midKeys[at] == k
	case n <= maxLong:
		k := keyOfLong(piece)
		at := t.long.place(hashLong(k))
		return t.longToken[at], t.longKeys[at] == k
	case n <= maxTokenBytes:
		token, ok = t.longest[string(piece)]
	}
	return token, ok
}

// Perfect hash tables: every key has a place of its own.
//
// Looking a word up must not wait: the next lookups can start while this one is on its
// way to memory, but only if no branch depends on its result. So there is exactly one
// place to look, and a comparison at the end.

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
