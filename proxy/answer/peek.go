package answer

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"laconic/proxy/overflow"
	"laconic/proxy/wire"
)

const (
	// mostError is how much of an error is read before it goes to the client. A
	// longer answer is no error, and may have no end.
	mostError = 1 << 20
	// firstRead is the size of the buffer for the start of an answer.
	firstRead = 4 << 10
	// mostJudged bounds how many bytes are looked at, in all looks together: an
	// answer that comes byte by byte is judged at every byte. A look costs at
	// least leastJudged.
	mostJudged  = 16 << 20
	leastJudged = 4 << 10
)

// Peek returns the error by which the upstream refused the request, or nil if there
// is none. Of an answer with status 200 it reads the first event, comment or byte,
// and the error is the data of that event; if atOnce is true, it reads nothing of
// such an answer. Of an error with another status it reads all. res.Body still
// returns every byte.
func Peek(res *http.Response, w wire.Wire, timer Timer, atOnce bool) (refusal []byte) {
	switch res.StatusCode {
	case http.StatusOK:
		if !atOnce {
			return peekEvent(res, w, timer)
		}
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError:
		return readError(res)
	}
	return nil
}

// peekEvent reads up to the first event of an answer with status 200.
func peekEvent(res *http.Response, w wire.Wire, timer Timer) (refusal []byte) {
	body := res.Body
	p := &peeked{body: body, buffer: firstReads.Get().(*[firstRead]byte)}
	p.seen = p.buffer[:0]
	res.Body = p
	for judged := 0; judged < mostJudged; {
		if len(p.seen) == cap(p.seen) {
			p.seen = append(make([]byte, 0, 2*cap(p.seen)), p.seen...)
		}
		timer.Start()
		n, err := body.Read(p.seen[len(p.seen):cap(p.seen)])
		timer.Stop()
		p.seen, p.err = p.seen[:len(p.seen)+n], err
		whole := err == io.EOF || res.ContentLength >= 0 && int64(len(p.seen)) >= res.ContentLength
		begins, data := w.FirstEvent(p.seen, whole)
		judged += leastJudged + len(p.seen)
		switch {
		case begins == overflow.Error:
			return bytes.Clone(data)
		case begins == overflow.Answer, err != nil, len(p.seen) >= mostError:
			return nil
		}
	}
	return nil
}

// firstReads are buffers for the starts of answers. They are short lived: new ones
// for each of a thousand streams would leave holes in memory.
var firstReads = sync.Pool{New: func() any { return new([firstRead]byte) }}

// peeked is a body whose start was read.
type peeked struct {
	body   io.ReadCloser
	seen   []byte
	buffer *[firstRead]byte // in which seen began; nil once it was given back
	err    error            // came with what was seen
}

func (p *peeked) Read(buf []byte) (int, error) {
	if len(p.seen) > 0 {
		n := copy(buf, p.seen)
		if p.seen = p.seen[n:]; len(p.seen) == 0 {
			firstReads.Put(p.buffer) // a stream may go on for an hour
			p.seen, p.buffer = nil, nil
		}
		return n, nil
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.body.Read(buf)
}

func (p *peeked) Close() error { return p.body.Close() }
