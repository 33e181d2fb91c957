// Which pieces are tokens: most are, and then nothing has to be merged.

package bpe

import (
	"encoding/binary"
	"math/bits"
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
