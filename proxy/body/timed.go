package body

import (
	"context"
	"io"
	"net/http"
	"sync"
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

// timedReader reads a client's body, each read under a deadline, which is short once
// closing is done. A deadline that outlived its read would end the answer
// (golang/go#70834), or in HTTP/2 the body while nobody reads it.
type timedReader struct {
	r       io.Reader
	rc      *http.ResponseController
	paced   bool // the body is held; else it is streamed
	closing context.Context
	stop    func() bool // what waits for it

	mu      sync.Mutex
	start   time.Time // of the first read
	n       int64     // the bytes that came
	reading bool
	err     error // of the last read
	over    error // why nothing is read any more
}

func newTimedReader(closing context.Context, r io.Reader, rc *http.ResponseController, paced bool) *timedReader {
	t := &timedReader{r: r, rc: rc, closing: closing, paced: paced}
	t.stop = context.AfterFunc(closing, t.hurry)
	return t
}

func (t *timedReader) Read(buf []byte) (int, error) {
	if err := t.begin(); err != nil {
		return 0, err
	}
	n, err := t.r.Read(buf)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n, t.err = t.n+int64(n), err
	if t.over == nil {
		t.reading = false
		_ = t.rc.SetReadDeadline(time.Time{})
	} else if err != nil && err != io.EOF { // the request may be over, and its controller gone with it
		err = t.over
	}
	return n, err
}

// begin sets the deadline of a read, or returns why nothing is read any more.
func (t *timedReader) begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over == nil {
		if t.start.IsZero() {
			t.start = time.Now()
		}
		t.reading = true
		t.arm()
	}
	return t.over
}

// hurry gives a read that waits a short end.
func (t *timedReader) hurry() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reading && t.over == nil {
		t.arm()
	}
}

// arm sets the deadline. The lock is held.
func (t *timedReader) arm() {
	now := time.Now()
	deadline := now.Add(uploadIdle)
	if t.paced {
		deadline = t.start.Add(arrivalGrace + time.Duration(t.n/arrivalRate)*time.Second)
	}
	if last := now.Add(closingIdle); t.closing.Err() != nil && last.Before(deadline) {
		deadline = last
	}
	_ = t.rc.SetReadDeadline(deadline) // not every ResponseWriter has one
}

// end ends the reading, and returns why it was ended before, if it was. It must be
// called while the request is still being served.
func (t *timedReader) end() error {
	t.stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	over := t.over
	t.over = http.ErrBodyReadAfterClose
	return over
}

// Abort ends the reading, because others need the memory.
func (t *timedReader) Abort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over == nil {
		t.over = admission.ErrNoMemory
		_ = t.rc.SetReadDeadline(time.Now())
	}
}

// Received returns how many bytes came.
func (t *timedReader) Received() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// last returns the error of the last read.
func (t *timedReader) last() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
