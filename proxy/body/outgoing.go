package body

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

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

	first sending

	mu       sync.Mutex
	data     []byte
	original []byte // the client's own text while that is kept, else nil; may be data
	beside   int64  // the bytes of the original; 0: it is data
	keeping  bool
	reading  bool // the original is being read again
	memory   *admission.Reservation

	sent atomic.Bool // the last byte was taken
}

// NewOutgoing takes over data, which was made of in, and in with its memory. again
// says that the client's own text may be wanted again.
func NewOutgoing(data []byte, in *Body, again bool) *Outgoing {
	b := &Outgoing{data: data, keeping: again, memory: in.Memory}
	b.first.b = b
	if again {
		if b.original = in.Text; &data[0] != &in.Text[0] {
			b.beside = int64(len(in.Text))
		}
	}
	if b.memory != nil {
		b.memory.Shrink(2*int64(len(data)) + b.beside) // what was read out of it is garbage now
	}
	return b
}

// Len returns the size of what is sent, in bytes; 0 once it was let go.
func (b *Outgoing) Len() int { return len(b.data) }

// sending reads a body once from its start, for the upstream.
type sending struct {
	b    *Outgoing
	at   int
	done bool
}

var errLetGo = errors.New("the request's body was let go")

func (s *sending) Read(buf []byte) (int, error) {
	s.b.Watch.touch()
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	switch {
	case s.done:
		return 0, io.EOF
	case s.b.data == nil:
		return 0, errLetGo
	}
	n := copy(buf, s.b.data[s.at:])
	if s.at += n; s.at < len(s.b.data) {
		return n, nil
	}
	s.done = true
	s.b.taken()
	return n, io.EOF
}

func (b *Outgoing) Read(buf []byte) (int, error) { return b.first.Read(buf) }

// taken notes that the upstream has all of the body.
func (b *Outgoing) taken() {
	b.sent.Store(true)
	switch {
	case b.data == nil, b.reading:
	case !b.keeping:
		b.drop()
	case b.memory != nil:
		b.memory.Shrink(int64(len(b.data)) + b.beside)
		if !b.memory.Offer(b.Release) {
			b.keeping = false
			b.drop()
		}
	}
}

// drop lets go of the bytes and of the memory held for them.
func (b *Outgoing) drop() {
	b.data, b.original = nil, nil
	b.memory.Free()
}

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
	if text == nil || b.memory.Grow(ctx, cost(text)-n) != nil {
		return nil
	}
	return &Body{Text: text}
}

// WasRead ends what ReadAgain began: others may have the memory.
func (b *Outgoing) WasRead() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading = false; b.sent.Load() {
		b.taken()
	}
}

// Release ends keeping: a body that was sent is dropped.
func (b *Outgoing) Release() bool {
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
	return io.NopCloser(&sending{b: b}), nil
}
