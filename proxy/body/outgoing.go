package body

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"unsafe"

	"laconic/proxy/admission"
)

// Outgoing is a body on its way to the upstream. It is held in memory until the
// upstream has read it and no longer: an answer may stream for ten minutes, and a
// thousand bodies of such would be most of what they cost.
//
// A body that may have to be sent again is kept until its answer begins, with the
// client's own body, unless others need the memory.
type Outgoing struct {
	// Watch is touched by each read. It must be set before the first.
	Watch *Watch

	mu       sync.Mutex
	data     []byte
	at       int
	in       *Body  // the client's own
	original []byte // its text while that is kept, else nil; may be data
	keeping  bool
	reading  bool // the original is being read again
	writing  bool // a part of data is being written
	dropping bool // what is written is dropped then
	memory   *admission.Reservation

	sent atomic.Bool // the last byte was taken
}

// NewOutgoing takes over data, which was made of in, and in with its memory. again
// says that the client's own text may be wanted again.
func NewOutgoing(data []byte, in *Body, again bool) *Outgoing {
	b := &Outgoing{data: data, in: in, memory: in.Memory}
	if again {
		b.original, b.keeping = in.Text, true
	}
	if b.memory != nil {
		b.memory.Shrink(2*int64(len(data)) + b.beside()) // what was read out of it is garbage now
	}
	return b
}

// beside returns the size of the original if it is not what is sent.
func (b *Outgoing) beside() int64 {
	if len(b.original) == 0 || len(b.data) > 0 && &b.original[0] == &b.data[0] {
		return 0
	}
	return int64(len(b.original))
}

// Len returns the size of what is sent, in bytes; 0 once it was let go.
func (b *Outgoing) Len() int { return len(b.data) }

func (b *Outgoing) Read(buf []byte) (int, error) {
	b.Watch.touch()
	b.mu.Lock()
	defer b.mu.Unlock()
	n := copy(buf, b.data[b.at:])
	b.at += n
	if b.at < len(b.data) {
		return n, nil
	}
	b.taken()
	return n, io.EOF
}

// mostWritten is how much of a body is written at once. Each time says that the
// upstream takes it.
const mostWritten = 256 << 10

// writeTo writes at most n bytes of what is not read yet.
func (b *Outgoing) writeTo(w io.Writer, n int64) (written int64, err error) {
	for err == nil && written < n {
		b.Watch.touch()
		part := b.begin(n - written)
		if len(part) == 0 {
			break
		}
		var m int
		m, err = w.Write(part)
		written += int64(m)
		b.wrote(m)
	}
	return written, err
}

// begin returns what is written next, which stays as it is until wrote is called.
func (b *Outgoing) begin(n int64) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	part := b.data[b.at:]
	part = part[:min(int64(len(part)), n, mostWritten)]
	b.writing = len(part) > 0
	return part
}

// wrote ends what begin began: n bytes were written.
func (b *Outgoing) wrote(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing = false
	if b.at += n; b.at == len(b.data) {
		b.taken()
	}
	if b.dropping {
		b.drop()
	}
}

// taken notes that the upstream has all of the body.
func (b *Outgoing) taken() {
	if b.data == nil {
		return
	}
	b.sent.Store(true)
	switch {
	case b.reading:
	case !b.keeping:
		b.drop()
	case b.memory != nil:
		b.memory.Shrink(int64(len(b.data)) + b.beside())
		if !b.memory.Offer(b) {
			b.keeping = false
			b.drop()
		}
	}
}

// drop lets go of the bytes and of the memory held for them, once nothing of them is
// being written.
func (b *Outgoing) drop() {
	if b.dropping = b.writing; b.writing {
		return
	}
	if b.data != nil && !same(b.data, b.in.Sent) && !same(b.data, b.in.Text) && b.in.buffers != nil {
		b.in.buffers.Put(b.data)
	}
	b.in.free()
	b.data, b.original, b.at = nil, nil, 0
	b.memory.Free()
}

// same reports whether two slices begin at the same byte.
func same(a, b []byte) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }

// Close drops the body when the upstream did not want all of it.
func (b *Outgoing) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.keeping && !b.reading {
		b.drop()
	}
	return nil
}

// Sent reports whether the upstream took the last byte.
func (b *Outgoing) Sent() bool { return b.sent.Load() }

// Keeping reports whether the body is kept until its answer begins.
func (b *Outgoing) Keeping() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keeping
}

// ReadAgain takes memory for reading the client's own body once more, and returns
// that body, or nil if it was let go. WasRead must be called after it.
func (b *Outgoing) ReadAgain(ctx context.Context) *Body {
	b.mu.Lock()
	text := b.original
	b.reading = text != nil
	b.mu.Unlock()
	n := int64(len(text))
	if text == nil || b.memory.Grow(ctx, admission.Cost(n, int64(bytes.Count(text, []byte("{"))))-n) != nil {
		return nil
	}
	return b.in
}

// WasRead ends what ReadAgain began: others may have the memory.
func (b *Outgoing) WasRead() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading = false; b.sent.Load() {
		b.taken()
	}
}

// kept returns the client's own body, or nil if it was let go.
func (b *Outgoing) kept() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.original
}

// Release ends keeping: what was sent is dropped.
func (b *Outgoing) Release() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keeping, b.original = false, nil
	if b.sent.Load() && !b.reading {
		b.drop()
	}
	return true
}

// Again returns the body from its start: a GetBody by which Go sends a body again
// that the upstream did not see.
func (b *Outgoing) Again() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data == nil || !b.keeping {
		return nil, errLetGo
	}
	b.sent.Store(false)
	return &replay{b: b}, nil
}

var errLetGo = errors.New("the request's body was let go")

// replay reads an outgoing body once more from its start.
type replay struct {
	b  *Outgoing
	at int
}

func (r *replay) Read(buf []byte) (int, error) {
	r.b.Watch.touch()
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	if r.b.data == nil {
		return 0, errLetGo
	}
	n := copy(buf, r.b.data[r.at:])
	if r.at += n; r.at < len(r.b.data) {
		return n, nil
	}
	r.b.taken()
	return n, io.EOF
}

func (r *replay) Close() error { return nil }
