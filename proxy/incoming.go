package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A body must arrive at no less than bodyRate bytes per second, after a start
// of bodyGrace: a client that sends a byte now and then would otherwise hold
// its memory for ever.
const (
	bodyGrace = 30 * time.Second
	bodyRate  = 32 << 10
)

// incoming is the body of a chat request, read to its end.
type incoming struct {
	sent []byte // as the client sent it
	text []byte // decompressed; the same slice when it was not compressed
	// why says why there is no text, "" when there is.
	why  string
	seat *seat
}

// read reads a request's body whole. It waits for memory first, by the length
// that the client declares; a body without one takes memory as it grows.
func (t *trip) read() (*incoming, *refusal) {
	limit := t.p.o.Limits.Body
	if t.r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	b := &incoming{seat: t.p.memory.seat()}
	t.seat = b.seat
	encoding := contentEncoding(t.r.Header)
	cost := int64(bodyCost)
	if encoding != "" {
		cost = 1 // what comes out of it is weighed when it is there
	}
	sent, err := t.readAll(limit, func(n int64) error { return b.seat.hold(t.r.Context(), n*cost) })
	if err != nil {
		return nil, t.unreadable(err, limit)
	}
	t.wholeBody = true
	b.sent, b.text = sent, sent
	if encoding != "" {
		b.text, err = decompress(encoding, sent, limit, func(n int64) error {
			return b.seat.hold(t.r.Context(), int64(len(sent))+n*bodyCost)
		})
	}
	if err == nil {
		err = b.seat.holdElements(t.r.Context(), b.text)
	}
	switch {
	case errors.Is(err, errBodyTooLarge):
		return nil, tooLarge(limit)
	case errors.Is(err, errNoMemory), t.r.Context().Err() != nil:
		return nil, t.unreadable(err, limit)
	case err != nil:
		b.text, b.why = nil, "the compressed body cannot be decompressed"
	}
	return b, nil
}

var errBodyTooLarge = errors.New("body too large")

// readAll reads the client's body. hold is asked before n bytes are allocated.
func (t *trip) readAll(limit int64, hold func(n int64) error) ([]byte, error) {
	in := &pacedReader{r: t.r.Body, rc: t.w.rc}
	defer in.end()
	size := t.r.ContentLength
	known := size >= 0
	if !known {
		size = min(64<<10, limit+1)
	}
	var first []byte
	if known {
		var err error
		if first, err = t.earnest(in, size); err != nil {
			return nil, err
		}
	}
	if err := hold(size); err != nil {
		return nil, err
	}
	if known {
		body := make([]byte, size)
		if _, err := io.ReadFull(in, body[copy(body, first):]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		// The server watches for the client's leaving only once the body was
		// read to its EOF.
		if _, err := in.Read(make([]byte, 1)); err != io.EOF {
			return nil, errors.Join(io.ErrUnexpectedEOF, err)
		}
		return body, nil
	}
	return readGrowing(in, size, limit, hold)
}

// earnestBytes is what must have arrived of a body, or a sixteenth of it if
// that is more, before memory for all of it is set aside.
const earnestBytes = 64 << 10

// earnest reads the first part of a large body. A client that names a length
// and sends nothing could else set aside the memory of everybody.
func (t *trip) earnest(in io.Reader, size int64) ([]byte, error) {
	n := max(earnestBytes, size/16)
	if size <= n {
		return nil, nil
	}
	if err := t.seat.hold(t.r.Context(), n); err != nil {
		return nil, err
	}
	first := make([]byte, n)
	if _, err := io.ReadFull(in, first); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return first, nil
}

// readGrowing reads to EOF into a buffer that doubles, at most limit bytes.
// hold is asked for what the old and the new buffer take together.
func readGrowing(r io.Reader, size, limit int64, hold func(n int64) error) ([]byte, error) {
	body := make([]byte, 0, size)
	for {
		if len(body) == cap(body) {
			next := min(2*int64(cap(body)), limit+1)
			if err := hold(next); err != nil {
				return nil, err
			}
			body = append(make([]byte, 0, next), body...)
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if int64(len(body)) > limit {
			return nil, errBodyTooLarge
		}
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// unreadable says what a failed read means.
func (t *trip) unreadable(err error, limit int64) *refusal {
	switch {
	case errors.Is(err, errBodyTooLarge):
		return tooLarge(limit)
	case errors.Is(err, errNoMemory):
		return noMemory()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{
			Status: http.StatusRequestTimeout, Code: "body_timeout", Close: true,
			Message: "The request body did not arrive in time.",
		}
	case errors.Is(err, errShutdown), errors.Is(context.Cause(t.r.Context()), errShutdown):
		return shuttingDown()
	}
	return brokenBody()
}

func brokenBody() *refusal {
	return &refusal{
		Status: http.StatusBadRequest, Code: "broken_body", Close: true,
		Message: "The request body ended before its end, or its framing is broken.",
	}
}

func tooLarge(limit int64) *refusal {
	return &refusal{
		Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Close: true,
		Message: "The request body is larger than the proxy's limit of " + megabytes(limit) + ".",
		Hint:    "The operator can raise limits.body.",
	}
}

// pacedReader reads a client's body under a deadline that moves with what
// arrives. end must be called while the request is still being served: a
// deadline left behind would end it (golang/go#70834).
type pacedReader struct {
	r     io.Reader
	rc    *http.ResponseController
	start time.Time // of the first read
	n     int64
	armed time.Time // the deadline that is set
}

func (b *pacedReader) Read(buf []byte) (int, error) {
	if b.start.IsZero() {
		b.start = time.Now()
	}
	due := b.start.Add(bodyGrace + time.Duration(b.n/bodyRate)*time.Second)
	if due.After(b.armed) {
		b.armed = due
		_ = b.rc.SetReadDeadline(due) // not every ResponseWriter has one
	}
	n, err := b.r.Read(buf)
	b.n += int64(n)
	return n, err
}

func (b *pacedReader) end() { _ = b.rc.SetReadDeadline(time.Time{}) }
