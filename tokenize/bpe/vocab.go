// The vocabularies: how they are stored, and the table made from them at first use.

package bpe

import _ "embed"

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

// size returns the number of bytes of t.
func (v *vocab) size(t uint32) int { return int(v.start[t+1] - v.start[t]) }

// token returns the bytes of t. They must not be changed.
func (v *vocab) token(t uint32) []byte { return v.bytes[v.start[t]:v.start[t+1]] }
