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

// Writer writes values to a hash.
type Writer struct {
	// AsWritten takes texts as they were written in JSON. That is quicker, but
	// then another way to write one is another text.
	AsWritten bool

	to  io.Writer
	buf []byte
}

// New returns a Writer to a hash.
func New(to io.Writer) *Writer { return &Writer{to: to} }

// Ints writes numbers.
func (w *Writer) Ints(values ...int) {
	w.buf = w.buf[:0]
	for _, v := range values {
		w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v))
	}
	_, _ = w.to.Write(w.buf)
}

// Text writes a string.
func (w *Writer) Text(s string) {
	w.begin()
	w.buf = append(w.buf, s...)
	w.end()
}

// begin leaves room for the length of a text, and end writes both.
func (w *Writer) begin() { w.buf = append(w.buf[:0], 0, 0, 0, 0, 0, 0, 0, 0) }

func (w *Writer) end() {
	binary.BigEndian.PutUint64(w.buf, uint64(len(w.buf)-8))
	_, _ = w.to.Write(w.buf) // a hash returns no error
}

// Message writes a message.
func (w *Writer) Message(m *compact.Message) {
	w.Ints(int(m.Role), len(m.Parts), len(m.Calls))
	w.Text(m.Name)
	w.Text(m.Answers)
	for i := range m.Parts {
		w.Ints(int(m.Parts[i].Kind))
		w.content(m.Parts[i].Text)
		w.Text(m.Parts[i].Detail)
	}
	for i := range m.Calls {
		w.Text(m.Calls[i].ID)
		w.Text(m.Calls[i].Name)
		w.content(m.Calls[i].Arguments)
	}
	if m.Refusal.Len() > 0 {
		w.Ints(int(compact.KindRefusal))
		w.content(m.Refusal)
	}
}

func (w *Writer) content(t compact.Text) {
	if w.AsWritten {
		source, _ := t.Source()
		w.Text(source)
		return
	}
	w.begin()
	w.buf = t.AppendTo(w.buf)
	w.end()
}

// Chain hashes a list that grows. The hash of every list that it began as is
// made on the way.
type Chain struct {
	hash hash.Hash
	w    *Writer
	sum  string
}

// NewChain returns the chain of an empty list, which has this hash.
func NewChain(empty []byte) *Chain {
	h := sha256.New()
	return &Chain{hash: h, w: New(h), sum: string(empty)}
}

// Add adds a message to the list.
func (c *Chain) Add(m *compact.Message) {
	c.hash.Reset()
	c.w.Text(c.sum)
	c.w.Message(m)
	c.sum = string(c.hash.Sum(nil))
}

// Sum returns the hash of the list.
func (c *Chain) Sum() string { return c.sum }
