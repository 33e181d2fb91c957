package cache

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Sum tells a text from all others: a keyed hash, and its length.
type Sum struct {
	Hash [2]uint64
	Size int
}

// keys are the secrets of a hash.
//
// Texts are hashed in blocks by NH, the hash of UMAC (RFC 4418): a sum of products of pairs of words, each word with a
// key of its own added. Two blocks of one length that differ, whatever they are, have the same NH with a chance of 2⁻⁶⁴
// over the keys. Of texts with more than one block the hash is two polynomials over the NHs of all blocks, in the field
// of the prime 2⁶¹-1, at two secret points: for texts of 64 MiB their chance is 2⁻⁸⁶.
//
// NH reads a text once where two 64-bit hashes of maphash, which promise less, read it twice.
type keys struct {
	words  [blockSize / 8]uint64
	points [2]uint64
}

const (
	blockSize = 1024
	prime     = 1<<61 - 1
)

func newKeys() *keys {
	k := &keys{}
	var secret [8]byte
	word := func() uint64 {
		_, _ = rand.Read(secret[:]) // it never fails
		return binary.LittleEndian.Uint64(secret[:])
	}
	for i := range k.words {
		k.words[i] = word()
	}
	for i := range k.points {
		for k.points[i] = prime; k.points[i] >= prime; {
			k.points[i] = word() & prime
		}
	}
	return k
}

func (k *keys) sum(text string) Sum {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // only read
	s := Sum{Size: len(text)}
	if len(b) <= blockSize {
		s.Hash[0], s.Hash[1] = k.nh(b)
		return s
	}
	for len(b) > 0 {
		n := min(len(b), blockSize)
		high, low := k.nh(b[:n])
		for i, at := range k.points {
			h := times(s.Hash[i]+low&(1<<60-1), at)
			h = times(h+(low>>60|high<<4)&(1<<60-1), at)
			s.Hash[i] = times(h+high>>56, at)
		}
		b = b[n:]
	}
	return s
}

// nh returns the NH of a block. The last words of one overlap those before them, or
// are filled up with zeros if it is shorter than two.
func (k *keys) nh(b []byte) (high, low uint64) {
	var carry uint64
	add := func(h, l uint64) {
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	if len(b) < 16 {
		var words [16]byte
		copy(words[:], b)
		add(product(words[:], k.words[:]))
		return high, low
	}
	last := b[len(b)-16:]
	words := k.words[:]
	for len(b) >= 64 && len(words) >= 8 {
		four, by := b[:64], words[:8]
		add(product(four, by))
		add(product(four[16:], by[2:]))
		add(product(four[32:], by[4:]))
		add(product(four[48:], by[6:]))
		b, words = b[64:], words[8:]
	}
	for len(b) >= 16 && len(words) >= 2 {
		add(product(b, words))
		b, words = b[16:], words[2:]
	}
	if len(b) > 0 {
		add(product(last, words))
	}
	return high, low
}

// product returns the product of two words of a text, to each of which its key was
// added.
func product(text []byte, by []uint64) (high, low uint64) {
	return bits.Mul64(binary.LittleEndian.Uint64(text)+by[0], binary.LittleEndian.Uint64(text[8:])+by[1])
}

// times returns the product of two numbers below 2⁶², modulo prime.
func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	n := low&prime + (low>>61 | high<<3)
	if n = n&prime + n>>61; n >= prime {
		n -= prime
	}
	return n
}
