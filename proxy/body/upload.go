package body

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// uploadIdle is how long a client may be silent inside a body that is streamed.
// Such a body is not held, so nothing but a connection waits.
const uploadIdle = 60 * time.Second

// Upload is a body that goes from the client to the upstream as it comes.
type Upload struct {
	body    io.ReadCloser
	rc      *http.ResponseController
	w       *Watch
	closing context.Context
	stop    func() bool // what waits for it

	mu      sync.Mutex
	err     error       // why the client's body broke, nil while it did not
	done    atomic.Bool // the client sent all of it
	reading bool
	closed  bool // the upstream wants no more of it
}

func (u *Upload) Read(buf []byte) (int, error) {
	if !u.arm(true) {
		return 0, http.ErrBodyReadAfterClose
	}
	u.w.touch()
	n, err := u.body.Read(buf)
	// Left behind, it would end the answer (golang/go#70834), or in HTTP/2 the
	// body while the upstream takes its time.
	u.arm(false)
	switch {
	case err == io.EOF:
		u.done.Store(true)
	case err != nil:
		u.mu.Lock()
		u.err = err
		u.mu.Unlock()
	}
	return n, err
}

// Close ends the upload. It leaves the client's body open: an upstream that
// answered early wants no more of it, but the client may still be sending; see
// Drain. ReverseProxy does not call Close.
func (u *Upload) Close() error {
	if u != nil {
		u.stop()
		u.mu.Lock()
		defer u.mu.Unlock()
		u.closed = true
	}
	return nil
}

// arm sets the deadline of a read, or takes it away, and reports whether the body is
// still wanted. Once it is not, the request may be over, and its controller gone with it.
func (u *Upload) arm(reading bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.reading = reading
	var deadline time.Time
	switch {
	case reading && u.closing.Err() != nil:
		deadline = time.Now().Add(closingIdle)
	case reading:
		deadline = time.Now().Add(uploadIdle)
	}
	_ = u.rc.SetReadDeadline(deadline) // not every ResponseWriter has one
	return true
}

// hurry gives a read that waits a short end.
func (u *Upload) hurry() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.reading && !u.closed {
		_ = u.rc.SetReadDeadline(time.Now().Add(closingIdle))
	}
}

// NewUpload makes an upload of a client's body. Its deadlines are short once closing is
// done.
func NewUpload(closing context.Context, body io.ReadCloser, rc *http.ResponseController, w *Watch) *Upload {
	u := &Upload{body: body, rc: rc, w: w, closing: closing}
	u.stop = context.AfterFunc(closing, u.hurry)
	return u
}

// Done reports whether the client's body was read to its end.
func (u *Upload) Done() bool { return u.done.Load() }

// Err returns the error of the client's side, or nil.
func (u *Upload) Err() error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// How long the rest of a body is read that nobody wants: altogether, and without a
// byte.
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
