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

// writer writes values to a hash.
type writer struct {
	to  io.Writer
	buf []byte
}

// ints writes numbers.
func (w *writer) ints(values ...int) {
	w.buf = w.buf[:0]
	for _, v := range values {
		w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v))
	}
	_, _ = w.to.Write(w.buf)
}

// text writes a string.
func (w *writer) text(s string) {
	w.begin()
	w.buf = append(w.buf, s...)
	w.end()
}

// begin leaves room for the length of a text, and end writes both.
func (w *writer) begin() { w.buf = append(w.buf[:0], 0, 0, 0, 0, 0, 0, 0, 0) }

func (w *writer) end() {
	binary.BigEndian.PutUint64(w.buf, uint64(len(w.buf)-8))
	_, _ = w.to.Write(w.buf) // a hash returns no error
}

// message writes a message.
func (w *writer) message(m *compact.Message) {
	w.ints(int(m.Role), len(m.Parts), len(m.Calls))
	w.text(m.Name)
	w.text(m.Answers)
	for i := range m.Parts {
		w.ints(int(m.Parts[i].Kind))
		w.content(m.Parts[i].Text)
		w.text(m.Parts[i].Detail)
	}
	for i := range m.Calls {
		w.text(m.Calls[i].ID)
		w.text(m.Calls[i].Name)
		w.content(m.Calls[i].Arguments)
	}
	if m.Refusal.Len() > 0 {
		w.ints(int(compact.KindRefusal))
		w.content(m.Refusal)
	}
}

func (w *writer) content(t compact.Text) {
	w.begin()
	w.buf = t.AppendTo(w.buf)
	w.end()
}

// Chain hashes a list that grows. The hash of every list that it began as is
// made on the way.
type Chain struct {
	hash hash.Hash
	w    *writer
	sum  string
}

// NewChain returns the chain of an empty list, which has this hash.
func NewChain(empty []byte) *Chain {
	h := sha256.New()
	return &Chain{hash: h, w: &writer{to: h}, sum: string(empty)}
}

// Add adds a message to the list.
func (c *Chain) Add(m *compact.Message) {
	c.hash.Reset()
	c.w.text(c.sum)
	c.w.message(m)
	c.sum = string(c.hash.Sum(nil))
}

// Sum returns the hash of the list.
func (c *Chain) Sum() string { return c.sum }
