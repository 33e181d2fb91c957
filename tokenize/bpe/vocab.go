// The vocabularies: how they are stored, and the tables made from them at first use.

package bpe

import (
	_ "embed"
	"math/bits"
	"slices"
)

//go:embed data/o200k_base.merges
var o200kMerges string

//go:embed data/cl100k_base.merges
var cl100kMerges string

// byteTokens is the number of one-byte tokens; they have the lowest ranks.
const byteTokens = 256

// maxTokenBytes is the length of the longest token; a test checks it.
const maxTokenBytes = 128

// A vocab is the list of tokens. A token is named by its rank, which is also its number
// in the output. Every token of more than one byte is merged from two of lower rank:
// those that byte pair encoding of its own bytes leaves with all lower ranks.
//
// An embedded file has the 256 tokens of one byte in the order of their ranks, then five
// bytes for each other token: left + right<<20, little endian. A test rebuilds OpenAI's
// rank file from it and compares the checksum that openai/tiktoken pins.
type vocab struct {
	tokens []string
	ranks  map[string]uint32
	pairs  pairTable
}

// readVocab unpacks an embedded file. The file is part of the program and checked
// by the tests, so there is no error to return.
func readVocab(file string) *vocab {
	n := byteTokens + (len(file)-byteTokens)/5
	v := &vocab{tokens: make([]string, n), ranks: make(map[string]uint32, n), pairs: newPairTable(n)}
	for t := range uint32(n) {
		if t < byteTokens {
			v.tokens[t] = file[t : t+1]
		} else {
			at := byteTokens + 5*(t-byteTokens)
			low := uint32(file[at]) | uint32(file[at+1])<<8 | uint32(file[at+2])<<16
			right := uint32(file[at+2])>>4 | uint32(file[at+3])<<4 | uint32(file[at+4])<<12
			left := low & 0xFFFFF
			v.tokens[t] = v.tokens[left] + v.tokens[right]
			v.pairs.add(left, right, t)
		}
		v.ranks[v.tokens[t]] = t
	}
	return v
}

// rankBits is enough for every rank and one number more, see noToken.
const rankBits = 18

// noToken is the result of two tokens that do not merge. It is greater than every rank.
const noToken = 1<<rankBits - 1

// A pairTable finds the token that two tokens merge into. It is a hash table with open
// addressing: a place holds the left part, the right part and, in its low bits, the
// token. Half of the places or more are empty. Only one token in seven is ever a right
// part, and for all others the table is not asked. A map takes twice the time.
type pairTable struct {
	rights [1 << rankBits / 64]uint64 // a bit per token: set if it is ever a right part
	places []uint64
	shift  uint
}

const emptyPlace = ^uint64(0)

// newPairTable returns a table for so many tokens.
func newPairTable(tokens int) pairTable {
	b := bits.Len(uint(2 * tokens))
	return pairTable{places: slices.Repeat([]uint64{emptyPlace}, 1<<b), shift: uint(64 - b)}
}

// place returns where a pair is, or could be.
func (t *pairTable) place(pair uint64) *uint64 {
	at := pair * mix >> t.shift
	for t.places[at]>>rankBits != pair && t.places[at] != emptyPlace {
		at = (at + 1) % uint64(len(t.places))
	}
	return &t.places[at]
}

func (t *pairTable) add(l, r, token uint32) {
	t.rights[r/64] |= 1 << (r % 64)
	pair := uint64(l)<<rankBits | uint64(r)
	*t.place(pair) = pair<<rankBits | uint64(token)
}

// join returns the token that l and r merge into, or noToken.
func (t *pairTable) join(l, r uint32) uint32 {
	if t.rights[r/64]>>(r%64)&1 == 0 {
		return noToken
	}
	return uint32(*t.place(uint64(l)<<rankBits | uint64(r))) & noToken
}

// mix is an odd number without pattern, for multiplicative hashing.
const mix = 0x9E3779B97F4A7C15
