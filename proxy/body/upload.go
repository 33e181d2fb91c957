package body

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Upload is a body that goes from the client to the upstream as it comes.
type Upload struct {
	in *timedReader
	w  *Watch
}

// NewUpload makes an upload of a client's body. Its deadlines are short once closing is
// done.
func NewUpload(closing context.Context, body io.Reader, rc *http.ResponseController, w *Watch) *Upload {
	return &Upload{newTimedReader(closing, body, rc, false), w}
}

func (u *Upload) Read(buf []byte) (int, error) {
	u.w.touch()
	return u.in.Read(buf)
}

// Close ends the upload. It leaves the client's body open: an upstream that
// answered early wants no more of it, but the client may still be sending; see
// Drain. ReverseProxy does not call Close.
func (u *Upload) Close() error {
	if u != nil {
		_ = u.in.end()
	}
	return nil
}

// Done reports whether the client's body was read to its end.
func (u *Upload) Done() bool { return u.in.last() == io.EOF }

// Err returns the error of the client's side, or nil.
func (u *Upload) Err() error {
	if u == nil || u.Done() {
		return nil
	}
	return u.in.last()
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
