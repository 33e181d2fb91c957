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
	"io"

	"laconic/compact"
)

// Chain hashes a list that grows. The hash of every list that it began as is
// made on the way.
type Chain struct {
	hash hash.Hash
	buf  []byte
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
		c.content(m.Parts[i].Text)
		c.texts(m.Parts[i].Detail)
	}
	for i := range m.Calls {
		c.texts(m.Calls[i].ID, m.Calls[i].Name)
		c.content(m.Calls[i].Arguments)
	}
	if m.Refusal.Len() > 0 {
		c.ints(int(compact.KindRefusal))
		c.content(m.Refusal)
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
		_, _ = io.WriteString(c.hash, s)
	}
}

func (c *Chain) content(t compact.Text) {
	c.buf = append(c.buf[:0], t.String()...)
	c.ints(len(c.buf))
	_, _ = c.hash.Write(c.buf)
}
