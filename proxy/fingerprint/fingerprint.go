// Package fingerprint hashes what a model sees of messages.
//
// It promises:
//
//   - apart: no two lists of values look the same to the hash.
//   - same text, same hash: a message has one hash however its client wrote it. A
//     string and one text part are the same, and so are null and absent, and every
//     way to write a text in JSON.
package fingerprint

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"laconic/compact"
)

// Chain hashes a list that grows. The hash of every list that it began as is
// made on the way.
type Chain struct {
	hash hash.Hash
	sum  string
}

// NewChain returns the chain of an empty list, which has this hash.
func NewChain(empty []byte) *Chain { return &Chain{hash: sha256.New(), sum: string(empty)} }

// Sum returns the hash of the list.
func (c *Chain) Sum() string { return c.sum }

// Add adds a message to the list.
func (c *Chain) Add(m *compact.Message) {
	c.hash.Reset()
	c.texts(c.sum)
	c.ints(int(m.Role), len(m.Parts), len(m.Calls))
	c.texts(m.Name, m.Answers)
	for i := range m.Parts {
		c.ints(int(m.Parts[i].Kind))
		c.texts(m.Parts[i].Text.String(), m.Parts[i].Detail)
	}
	for i := range m.Calls {
		c.texts(m.Calls[i].ID, m.Calls[i].Name, m.Calls[i].Arguments.String())
	}
	if m.Refusal.Len() > 0 {
		c.ints(int(compact.KindRefusal))
		c.texts(m.Refusal.String())
	}
	c.sum = string(c.hash.Sum(nil))
}

// ints adds numbers to the hash, texts adds strings, each behind its length.
func (c *Chain) ints(values ...int) {
	for _, v := range values {
		_ = binary.Write(c.hash, binary.BigEndian, uint64(v)) // a hash returns no error
	}
}

func (c *Chain) texts(values ...string) {
	for _, s := range values {
		c.ints(len(s))
		_, _ = c.hash.Write([]byte(s))
	}
}
