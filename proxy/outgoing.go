package proxy

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// outgoing is a body on its way to the upstream, held in memory until the
// upstream has read it and not a moment longer: an answer may stream for ten
// minutes, and the bodies of a thousand such would be the real cost of them.
// For the same reason it cannot be rewound, so Go never sends one twice.
type outgoing struct {
	w *watch

	mu   sync.Mutex
	data []byte
	at   int
	seat *seat

	sent atomic.Bool // the last byte was taken
}

// newOutgoing takes over data and the seat that was held for it.
func newOutgoing(data []byte, s *seat) *outgoing {
	if s != nil {
		s.shrink(2 * int64(len(data))) // what was read out of it is garbage now
	}
	return &outgoing{data: data, seat: s}
}

func (b *outgoing) Read(buf []byte) (int, error) {
	b.w.touch()
	b.mu.Lock()
	defer b.mu.Unlock()
	n := copy(buf, b.data[b.at:])
	b.at += n
	if b.at < len(b.data) {
		return n, nil
	}
	if b.data != nil {
		b.sent.Store(true)
		b.drop()
	}
	return n, io.EOF
}

// drop lets go of the bytes and of the memory held for them.
func (b *outgoing) drop() {
	b.data, b.at = nil, 0
	b.seat.free()
}

// Close drops the body when the upstream did not want all of it.
func (b *outgoing) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop()
	return nil
}

// uploadIdle is how long a client may be silent inside a body that is streamed
// through. Such a body is not held, so nothing but a connection waits.
const uploadIdle = 60 * time.Second

// upload is a body that goes from the client to the upstream as it comes.
type upload struct {
	body io.ReadCloser
	rc   *http.ResponseController
	w    *watch

	mu   sync.Mutex
	err  error // why the client's body broke, nil while it did not
	done atomic.Bool
}

func (u *upload) Read(buf []byte) (int, error) {
	u.w.touch()
	_ = u.rc.SetReadDeadline(time.Now().Add(uploadIdle)) // not every ResponseWriter has one
	n, err := u.body.Read(buf)
	switch {
	case err == io.EOF:
		u.done.Store(true)
		// Left behind, it would end the answer (golang/go#70834).
		_ = u.rc.SetReadDeadline(time.Time{})
	case err != nil:
		u.mu.Lock()
		u.err = err
		u.mu.Unlock()
	}
	return n, err
}

func (u *upload) Close() error { return u.body.Close() }

// broke is the error of the client's side, nil when there was none.
func (u *upload) broke() error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}
