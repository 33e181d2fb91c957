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
//
// Merges of two tokens are in a hash table with open addressing: a place holds the left
// part, the right part and, in its low bits, the token. Half of the places or more are
// empty. Only one token in seven is ever a right part, and for all others the table is
// not asked.
type vocab struct {
	bytes  []byte                     // all tokens, one after the other
	start  []uint32                   // token t is bytes[start[t]:start[t+1]]
	rights [1 << rankBits / 64]uint64 // a bit per token: set if it is ever a right part
	places []uint64                   // 0: empty
	shift  uint
}

// readVocab unpacks an embedded file. The file is part of the program and checked
// by the tests, so there is no error to return.
func readVocab(file string) *vocab {
	n := byteTokens + (len(file)-byteTokens)/5
	b := bits.Len(uint(2 * n))
	v := &vocab{
		bytes:  make([]byte, 0, 9*n),
		start:  make([]uint32, 1, n+1),
		places: make([]uint64, 1<<b),
		shift:  uint(64 - b),
	}
	for t := range n {
		if t < byteTokens {
			v.bytes = append(v.bytes, file[t])
		} else {
			at := byteTokens + 5*(t-byteTokens)
			left := (uint32(file[at]) | uint32(file[at+1])<<8 | uint32(file[at+2])<<16) & 0xFFFFF
			right := uint32(file[at+2])>>4 | uint32(file[at+3])<<4 | uint32(file[at+4])<<12
			v.bytes = append(v.bytes, v.token(left)...)
			v.bytes = append(v.bytes, v.token(right)...)
			v.rights[right/64] |= 1 << (right % 64)
			pair := uint64(left)<<rankBits | uint64(right)
			place := pair * mix >> v.shift
			for v.places[place] != 0 {
				place = (place + 1) % uint64(len(v.places))
			}
			v.places[place] = pair<<rankBits | uint64(t)
		}
		v.start = append(v.start, uint32(len(v.bytes)))
	}
	return v
}

// len returns the number of tokens.
func (v *vocab) len() int { return len(v.start) - 1 }

// token returns the bytes of t. They must not be changed.
func (v *vocab) token(t uint32) []byte { return v.bytes[v.start[t]:v.start[t+1]] }

// rankBits is enough for every rank and one number more, see noToken.
const rankBits = 18

// noToken is the result of two tokens that do not merge. It is greater than every rank.
const noToken = 1<<rankBits - 1

// join returns the token that l and r merge into, or noToken.
func (v *vocab) join(l, r uint32) uint32 {
	if v.rights[r/64]>>(r%64)&1 == 0 {
		return noToken
	}
	pair := uint64(l)<<rankBits | uint64(r)
	for at := pair * mix >> v.shift; ; at = (at + 1) % uint64(len(v.places)) {
		switch place := v.places[at]; {
		case place == 0:
			return noToken
		case place>>rankBits == pair:
			return uint32(place) & noToken
		}
	}
}

// mix is an odd number without pattern, for multiplicative hashing.
const mix = 0x9E3779B97F4A7C15
