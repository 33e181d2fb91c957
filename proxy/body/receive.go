package body

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"laconic/proxy/admission"
)

// A body must arrive at no less than arrivalRate bytes per second, after
// arrivalGrace: a client that sends a byte now and then would otherwise hold its
// memory for ever.
const (
	arrivalGrace = 30 * time.Second
	arrivalRate  = 32 << 10
)

// A body is received into blocks, each as large as all before it, within these
// bounds. Where half of a body of known length is there, the rest is the last block,
// and the half is moved before it: the body is in one piece then.
const (
	leastBlock = 16 << 10
	mostBlock  = 256 << 10
)

// Received is a request's body as it arrived.
type Received struct {
	blocks  [][]byte
	n       int64
	buffers *Buffers // which the blocks are of
}

func (b *Received) add(block []byte) {
	b.blocks = append(b.blocks, block)
	b.n += int64(len(block))
}

// cost returns what the body costs until it is sent, if it is not compressed.
func (b *Received) cost() int64 {
	braces := 0
	for _, block := range b.blocks {
		braces += bytes.Count(block, []byte("{"))
	}
	return admission.Cost(b.n, int64(braces))
}

// join returns the body in one piece.
func (b *Received) join() []byte {
	if len(b.blocks) != 1 {
		b.move(int(b.n))
	}
	return b.blocks[0]
}

// move moves what came into one block that has room for size bytes, and returns the
// rest of that room.
func (b *Received) move(size int) (rest []byte) {
	whole := b.buffers.Take(size)
	n := 0
	for _, block := range b.blocks {
		n += copy(whole[n:], block)
		b.buffers.Put(block)
	}
	b.blocks = append(b.blocks[:0], whole[:n])
	return whole[n:]
}

// Receive reads the body of r, at most limit bytes, under the deadlines of rc. It
// takes memory for what arrives and not for what Content-Length says.
func Receive(r *http.Request, rc *http.ResponseController, memory *admission.Reservation, buffers *Buffers, limit int64) (body Received, err error) {
	body.buffers = buffers
	length := r.ContentLength
	if length > limit {
		return body, ErrTooLarge
	}
	in := &pacedReader{r: r.Body, rc: rc}
	defer in.end()
	defer memory.Arrive(in)()
	most := limit + 1
	if length >= 0 {
		most = length
	}
	for err == nil && body.n < most {
		size := min(min(max(body.n, leastBlock), mostBlock), most-body.n)
		last := length >= 0 && body.n >= leastBlock && body.n >= length-body.n
		if last {
			size = length - body.n
		}
		if err = memory.Receive(r.Context(), body.n+size); err != nil {
			break
		}
		if last {
			var rest []byte
			rest, err = in.fill(body.move(int(length)))
			body.n += int64(len(rest))
			body.blocks[0] = body.blocks[0][:body.n]
			continue
		}
		var block []byte
		block, err = in.fill(buffers.Take(int(size)))
		body.add(block)
	}
	switch {
	case err == nil && length < 0:
		return body, ErrTooLarge
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

// mostSpace is how much space before a JSON text is looked through, in bytes.
const mostSpace = 4 << 10

// BeginsObject reports whether the body of r, which is not compressed, begins as a
// JSON object does. What it reads is read again by who reads the body.
func BeginsObject(r *http.Request, rc *http.ResponseController) (bool, error) {
	in := &pacedReader{r: r.Body, rc: rc}
	defer in.end()
	begin := bufio.NewReaderSize(in, mostSpace)
	defer func() {
		read, _ := begin.Peek(begin.Buffered())
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(read), r.Body), r.Body}
	}()
	for n := 1; n <= mostSpace; n++ {
		text, err := begin.Peek(n)
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return false, err
		}
		switch text[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return text[n-1] == '{', nil
		}
	}
	return false, nil
}

// pacedReader reads a client's body under a deadline that moves with what arrives.
// end must be called while the request is still being served: a deadline that
// remains would end it (golang/go#70834).
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
	due := b.start.Add(arrivalGrace + time.Duration(b.n.Load()/arrivalRate)*time.Second)
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
