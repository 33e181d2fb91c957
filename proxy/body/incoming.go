package body

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"laconic/proxy/admission"
)

// closingIdle is how long a client may be silent inside a body once the server takes
// no more requests: a stalled one would use up the time of the shutdown.
const closingIdle = 3 * time.Second

// A body must arrive at no less than arrivalRate bytes per second, after
// arrivalGrace: a client that sends a byte now and then would otherwise hold its
// memory for ever.
const (
	arrivalGrace = 30 * time.Second
	arrivalRate  = 32 << 10
)

// uploadIdle is how long a client may be silent inside a body that is streamed.
// Such a body is not held, so nothing but a connection waits.
const uploadIdle = 60 * time.Second

// Incoming reads a client's body, each read under a deadline, which is short once
// closing is done. A deadline that outlived its read would end the answer
// (golang/go#70834), or in HTTP/2 the body while nobody reads it.
type Incoming struct {
	r       io.Reader
	rc      *http.ResponseController
	watch   *Watch // of the upstream to which the body is streamed; nil: it is held
	closing context.Context
	stop    func() bool // what waits for it

	n atomic.Int64 // the bytes that came

	mu      sync.Mutex
	start   time.Time // of the first read
	reading bool
	err     error // of the last read
	over    error // why nothing is read any more
}

// NewIncoming returns what streams a body to the upstream of a watch.
func NewIncoming(closing context.Context, body io.Reader, rc *http.ResponseController, w *Watch) *Incoming {
	b := &Incoming{r: body, rc: rc, watch: w, closing: closing}
	b.stop = context.AfterFunc(closing, b.hurry)
	return b
}

func (b *Incoming) Read(buf []byte) (int, error) {
	if err := b.begin(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(buf)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n.Add(int64(n))
	b.err = err
	if b.over == nil {
		b.reading = false
		_ = b.rc.SetReadDeadline(time.Time{})
	} else if err != nil && err != io.EOF { // the request may be over, and its controller gone with it
		err = b.over
	}
	return n, err
}

// begin sets the deadline of a read, or returns why nothing is read any more.
func (b *Incoming) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == nil {
		if b.start.IsZero() {
			b.start = time.Now()
		}
		b.reading = true
		b.arm()
		if b.watch != nil {
			b.watch.touch()
		}
	}
	return b.over
}

// hurry gives a read that waits a short end.
func (b *Incoming) hurry() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading && b.over == nil {
		b.arm()
	}
}

// arm sets the deadline. The lock is held.
func (b *Incoming) arm() {
	now := time.Now()
	deadline := now.Add(uploadIdle)
	if b.watch == nil {
		deadline = b.start.Add(arrivalGrace + time.Duration(b.n.Load()/arrivalRate)*time.Second)
	}
	if last := now.Add(closingIdle); b.closing.Err() != nil && last.Before(deadline) {
		deadline = last
	}
	_ = b.rc.SetReadDeadline(deadline) // not every ResponseWriter has one
}

// Close ends the reading while the request is still being served, and returns why it was
// ended before, if it was. It leaves the client's body open: an upstream that answered
// early wants no more of it, but the client may still be sending; see Drain. ReverseProxy
// does not call Close.
func (b *Incoming) Close() error {
	if b == nil {
		return nil
	}
	b.stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	over := b.over
	b.over = http.ErrBodyReadAfterClose
	return over
}

// Abort ends the reading, because others need the memory.
func (b *Incoming) Abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == nil {
		b.over = admission.ErrNoMemory
		_ = b.rc.SetReadDeadline(time.Now())
	}
}

// Received returns how many bytes came.
func (b *Incoming) Received() int64 { return b.n.Load() }

// Done reports whether the client's body was read to its end.
func (b *Incoming) Done() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err == io.EOF
}

// Err returns the error of the client's side, or nil.
func (b *Incoming) Err() error {
	if b == nil || b.Done() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// How long the rest of an unwanted body is read: altogether, and without a byte.
const (
	drainFor  = 5 * time.Second
	drainIdle = time.Second
)

// Drain reads, for a while, what a client still sends that has its answer. Most
// clients read the answer only when they have sent everything, and a connection
// that is closed with bytes unread is reset, the answer in it lost (RFC 9112 §9.6).
func Drain(body io.Reader, rc *http.ResponseController) {
	over := time.Now().Add(drainFor)
	for buf := make([]byte, 32<<10); ; {
		now := time.Now()
		if !now.Before(over) || rc.SetReadDeadline(now.Add(min(drainIdle, over.Sub(now)))) != nil {
			return
		}
		if _, err := body.Read(buf); err != nil {
			return
		}
	}
}
