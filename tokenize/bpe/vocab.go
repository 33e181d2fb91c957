// The vocabularies: how they are stored, and the tables made from them at first use.

package bpe

import (
	_ "embed"
	"math/bits"
)

//go:embed data/o200k_base.merges
var o200kMerges string

//go:embed data/cl100k_base.merges
var cl100kMerges string

// byteTokens is the number of one-byte tokens; they have the lowest ranks.
const byteTokens = 256

// A vocab is the list of tokens. A token is named by its rank, which is also its number
// in the output. Every token of more than one byte is merged from two of lower rank:
// those that byte pair encoding of its own bytes leaves with all lower ranks.
//
// An embedded file has the 256 tokens of one byte in the order of their ranks, then five
// bytes for each other token: left + right<<20, little endian. A test rebuilds OpenAI's
// rank file from it and compares the checksum that openai/tiktoken pins.
type vocab struct {
	bytes []byte   // all tokens, one after the other
	start []uint32 // token t is bytes[start[t]:start[t+1]]
	left  []uint32 // the two parts of token t, for t >= byteTokens
	right []uint32
}

// readVocab unpacks an embedded file. The file is part of the program and checked
// by the tests, so there is no error to return.
func readVocab(file string) *vocab {
	n := byteTokens + (len(file)-byteTokens)/5
	v := &vocab{
		bytes: make([]byte, 0, 9*n),
		start: make([]uint32, n+1),
		left:  make([]uint32, n),
		right: make([]uint32, n),
	}
	for t := range n {
		if t < byteTokens {
			v.bytes = append(v.bytes, file[t])
		} else {
			at := byteTokens + 5*(t-byteTokens)
			low := uint32(file[at]) | uint32(file[at+1])<<8 | uint32(file[at+2])<<16
			high := uint32(file[at+2])>>4 | uint32(file[at+3])<<4 | uint32(file[at+4])<<12
			v.left[t], v.right[t] = low&0xFFFFF, high
			v.bytes = append(v.bytes, v.token(v.left[t])...)
			v.bytes = append(v.bytes, v.token(v.right[t])...)
		}
		v.start[t+1] = uint32(len(v.bytes))
	}
	return v
}

// len returns the number of tokens.
func (v *vocab) len() int { return len(v.left) }

// token returns the bytes of t. They must not be changed.
func (v *vocab) token(t uint32) []byte { return v.bytes[v.start[t]:v.start[t+1]] }

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
