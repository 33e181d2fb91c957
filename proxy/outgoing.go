package proxy

import (
	"errors"
	"io"
	"laconic/proxy/admission"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// outgoing is a body on its way to the upstream, held in memory until the
// upstream has read it and not a moment longer: an answer may stream for ten
// minutes, and the bodies of a thousand such would be the real cost of them.
//
// One that may have to be sent again is kept until its answer begins, with the
// client's own body, unless others need the memory.
type outgoing struct {
	w *watch

	mu       sync.Mutex
	data     []byte
	at       int
	original []byte // the client's own, decompressed; may be data
	keeping  bool
	seat     *admission.Reservation

	sent atomic.Bool // the last byte was taken
}

// newOutgoing takes over data and the seat that was held for it. original is
// the client's own body where it may be wanted again, else nil.
func newOutgoing(data, original []byte, s *admission.Reservation) *outgoing {
	b := &outgoing{data: data, original: original, keeping: original != nil, seat: s}
	if s == nil {
		return b
	}
	s.Shrink(2*int64(len(data)) + b.beside()) // what was read out of it is garbage now
	return b
}

// beside is what the original takes where it is not what is sent.
func (b *outgoing) beside() int64 {
	if len(b.original) == 0 || len(b.data) > 0 && &b.original[0] == &b.data[0] {
		return 0
	}
	return int64(len(b.original))
}

func (b *outgoing) size() int { return len(b.data) }

func (b *outgoing) Read(buf []byte) (int, error) {
	b.w.touch()
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

// taken notes that the upstream has it all.
func (b *outgoing) taken() {
	if b.data == nil {
		return
	}
	b.sent.Store(true)
	switch {
	case !b.keeping:
		b.drop()
	case b.seat != nil:
		b.seat.Shrink(int64(len(b.data)) + b.beside())
		if !b.seat.Offer(b) {
			b.keeping = false
			b.drop()
		}
	}
}

// drop lets go of the bytes and of the memory held for them.
func (b *outgoing) drop() {
	b.data, b.original, b.at = nil, nil, 0
	b.seat.Free()
}

// Close drops the body when the upstream did not want all of it.
func (b *outgoing) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.keeping {
		b.drop()
	}
	return nil
}

// kept is the client's own body, nil when it was let go.
func (b *outgoing) kept() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.original
}

// Release ends keeping: what was sent is dropped.
func (b *outgoing) Release() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keeping, b.original = false, nil
	if b.sent.Load() {
		b.drop()
	}
	return true
}

// rewind is the GetBody of a request, by which Go sends a body again that the
// upstream did not see: where a kept connection turned out to be closed before
// anything was written, or an HTTP/2 server said that it did not look at it.
// With an idempotency key Go would go further and repeat what may have run, so
// such a request has none.
func (t *trip) rewind(h http.Header) func() (io.ReadCloser, error) {
	_, key := h["Idempotency-Key"]
	_, older := h["X-Idempotency-Key"]
	if t.out == nil || !t.out.keeping || key || older {
		return nil
	}
	b := t.out
	return func() (io.ReadCloser, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.data == nil || !b.keeping {
			return nil, errLetGo
		}
		b.sent.Store(false)
		return &replay{b: b}, nil
	}
}

var errLetGo = errors.New("the request's body was let go")

// replay reads an outgoing body once more from its start.
type replay struct {
	b  *outgoing
	at int
}

func (r *replay) Read(buf []byte) (int, error) {
	r.b.w.touch()
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

// uploadIdle is how long a client may be silent inside a body that is streamed
// through. Such a body is not held, so nothing but a connection waits.
const uploadIdle = 60 * time.Second

// upload is a body that goes from the client to the upstream as it comes.
type upload struct {
	body io.ReadCloser
	rc   *http.ResponseController
	w    *watch

	mu     sync.Mutex
	err    error // why the client's body broke, nil while it did not
	done   atomic.Bool
	closed bool // the upstream wants no more of it
}

func (u *upload) Read(buf []byte) (int, error) {
	if !u.arm(time.Now().Add(uploadIdle)) {
		return 0, http.ErrBodyReadAfterClose
	}
	u.w.touch()
	n, err := u.body.Read(buf)
	// Left behind, it would end the answer (golang/go#70834), or in HTTP/2 the
	// body while the upstream takes its time.
	u.arm(time.Time{})
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

// Close is called by send: ReverseProxy does not pass it on. It leaves the
// client's body open: an upstream that answered early wants no more of it, but
// the client may still be sending, see linger.
func (u *upload) Close() error {
	if u != nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.closed = true
	}
	return nil
}

// arm sets the deadline of a read, and reports whether the body is still wanted.
// Once it is not, the request may be over, and its controller gone with it.
func (u *upload) arm(deadline time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	_ = u.rc.SetReadDeadline(deadline) // not every ResponseWriter has one
	return true
}

// broke is the error of the client's side, nil when there was none.
func (u *upload) broke() error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}
