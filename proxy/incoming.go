package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"laconic/proxy/admission"
	"laconic/proxy/apierror"
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
	seat *admission.Reservation
}

// The blocks into which a body is received: each as large as all before it,
// within these bounds.
const (
	leastBlock = 16 << 10
	mostBlock  = 256 << 10
)

// blocks are a body as it was received.
type blocks struct {
	all [][]byte
	n   int64
}

func (b *blocks) add(block []byte) {
	b.all = append(b.all, block)
	b.n += int64(len(block))
}

// cost is what the body costs until it is sent, if it is not compressed.
func (b *blocks) cost() int64 {
	braces := 0
	for _, block := range b.all {
		braces += bytes.Count(block, []byte("{"))
	}
	return admission.Cost(b.n, int64(braces))
}

// join returns the body in one piece.
func (b *blocks) join() []byte {
	if len(b.all) == 1 && len(b.all[0]) == cap(b.all[0]) {
		return b.all[0]
	}
	whole := make([]byte, 0, b.n)
	for _, block := range b.all {
		whole = append(whole, block...)
	}
	return whole
}

// clientOf names who sends a request, for sharing out memory: by the client key if
// there are such keys, else by the address of the connection.
func (p *Proxy) clientOf(r *http.Request) string {
	if len(p.keys) > 0 {
		return "key " + strconv.Itoa(p.keys.Index(r.Header))
	}
	return admission.ClientAt(r.RemoteAddr)
}

// read reads a request's body whole.
func (t *trip) read() (*incoming, *apierror.Error) {
	limit := t.p.o.Limits.Body
	if t.r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	t.seat = t.p.memory.Reserve(t.p.clientOf(t.r))
	in := &incoming{seat: t.seat}
	body, err := t.receive(limit)
	if err != nil {
		return nil, t.unreadable(err, limit)
	}
	t.wholeBody = true
	if encoding := contentEncoding(t.r.Header); encoding != "" {
		err = in.decompress(t.r.Context(), t.p.decoding, encoding, body, limit)
	} else if err = t.seat.Acquire(t.r.Context(), body.cost()); err == nil {
		in.sent = body.join()
		in.text = in.sent
	}
	if err != nil {
		return nil, t.unreadable(err, limit)
	}
	t.seat.Received()
	return in, nil
}

var errBodyTooLarge = errors.New("body too large")

// receive reads the client's body, at most limit bytes. It takes memory for what
// arrives and not for what the client says will: a length costs nothing to say.
func (t *trip) receive(limit int64) (body blocks, err error) {
	in := &pacedReader{r: t.r.Body, rc: t.w.rc}
	defer in.end()
	defer t.seat.Arrive(in)()
	length := t.r.ContentLength
	most := limit + 1
	if length >= 0 {
		most = length
	}
	body, err = t.arriveUpTo(in, most)
	switch {
	case err == nil && length < 0:
		return body, errBodyTooLarge
	case err == nil:
		// The server watches for the client's leaving only once the body was
		// read to its EOF.
		if _, err = in.Read(make([]byte, 1)); err == nil {
			err = io.ErrUnexpectedEOF
		}
	}
	if err == io.EOF && body.n < length {
		err = io.ErrUnexpectedEOF
	}
	if err != io.EOF {
		return body, err
	}
	return body, nil
}

// arriveUpTo reads the first most bytes of a body, taking memory block by block. The
// error is io.EOF where the body ends before.
func (t *trip) arriveUpTo(in *pacedReader, most int64) (body blocks, err error) {
	for err == nil && body.n < most {
		size := min(min(max(body.n, leastBlock), mostBlock), most-body.n)
		if err = t.seat.Receive(t.r.Context(), body.n+size); err == nil {
			var block []byte
			block, err = in.fill(make([]byte, size))
			body.add(block)
		}
	}
	return body, err
}

// unreadable says what a failed read means.
func (t *trip) unreadable(err error, limit int64) *apierror.Error {
	switch {
	case errors.Is(err, errBodyTooLarge):
		return tooLarge(limit)
	case errors.Is(err, admission.ErrNoMemory):
		return admission.Overloaded()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &apierror.Error{
			Status: http.StatusRequestTimeout, Code: "body_timeout", Close: true,
			Message: "The request body did not arrive in time.",
		}
	case errors.Is(err, errShutdown), errors.Is(context.Cause(t.r.Context()), errShutdown):
		return shuttingDown()
	}
	return brokenBody()
}

func brokenBody() *apierror.Error {
	return &apierror.Error{
		Status: http.StatusBadRequest, Code: "broken_body", Close: true,
		Message: "The request body ended before its end, or its framing is broken.",
	}
}

func tooLarge(limit int64) *apierror.Error {
	return &apierror.Error{
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
	n     atomic.Int64

	mu    sync.Mutex
	armed time.Time // the deadline that is set
	over  error     // why nothing is read any more
}

func (b *pacedReader) Read(buf []byte) (int, error) {
	if err := b.arm(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(buf)
	b.n.Add(int64(n))
	if err != nil && err != io.EOF {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.over != nil {
			err = b.over
		}
	}
	return n, err
}

// arm sets the deadline of the next read.
func (b *pacedReader) arm() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.start.IsZero() {
		b.start = time.Now()
	}
	due := b.start.Add(bodyGrace + time.Duration(b.n.Load()/bodyRate)*time.Second)
	if b.over == nil && due.After(b.armed) {
		b.armed = due
		_ = b.rc.SetReadDeadline(due) // not every ResponseWriter has one
	}
	return b.over
}

// fill reads until buf is full, and returns what it read of it.
func (b *pacedReader) fill(buf []byte) ([]byte, error) {
	n := 0
	for n < len(buf) {
		m, err := b.Read(buf[n:])
		if n += m; err != nil {
			return buf[:n], err
		}
	}
	return buf, nil
}

// Received returns how many bytes came.
func (b *pacedReader) Received() int64 { return b.n.Load() }

// Abort ends the reading, because others need the memory.
func (b *pacedReader) Abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == nil {
		b.over = admission.ErrNoMemory
		_ = b.rc.SetReadDeadline(time.Now())
	}
}

func (b *pacedReader) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == nil {
		b.over = io.ErrClosedPipe
	}
	_ = b.rc.SetReadDeadline(time.Time{})
}
