package answer

import (
	"bytes"
	"io"
	"net/http"

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
// and the error is the data of that event. Of an error with another status it reads
// all. res.Body still returns every byte.
func Peek(res *http.Response, w wire.Wire, timer Timer) (refusal []byte) {
	switch res.StatusCode {
	case http.StatusOK:
		p := newPeeked(res, w, timer)
		for {
			p.more()
			if refusal, known := p.judge(); known {
				return refusal
			}
		}
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError:
		return readError(res)
	}
	return nil
}

// peeked is a body whose start is read before anybody asks for it.
type peeked struct {
	body   io.ReadCloser
	length int64 // -1: not known
	wire   wire.Wire
	timer  Timer
	seen   []byte
	err    error // came with what was seen
	judged int
}

// newPeeked takes the place of the body of res.
func newPeeked(res *http.Response, w wire.Wire, timer Timer) *peeked {
	p := &peeked{body: res.Body, length: res.ContentLength, wire: w, timer: timer}
	res.Body = p
	return p
}

// more reads on.
func (p *peeked) more() {
	if len(p.seen) == cap(p.seen) {
		p.seen = append(make([]byte, 0, max(firstRead, 2*cap(p.seen))), p.seen...)
	}
	p.timer.Start()
	n, err := p.body.Read(p.seen[len(p.seen):cap(p.seen)])
	p.timer.Stop()
	p.seen, p.err = p.seen[:len(p.seen)+n], err
}

// judge reports whether it is known what the answer begins with, and returns the
// error if it begins with one.
func (p *peeked) judge() (refusal []byte, known bool) {
	whole := p.err == io.EOF || p.length >= 0 && int64(len(p.seen)) >= p.length
	begins, data := p.wire.FirstEvent(p.seen, whole)
	p.judged += leastJudged + len(p.seen)
	if begins == overflow.Error {
		return bytes.Clone(data), true
	}
	return nil, begins == overflow.Answer || p.err != nil || len(p.seen) >= mostError || p.judged >= mostJudged
}

func (p *peeked) Read(buf []byte) (int, error) {
	if len(p.seen) > 0 {
		n := copy(buf, p.seen)
		if p.seen = p.seen[n:]; len(p.seen) == 0 {
			p.seen = nil // a stream may go on for an hour
		}
		return n, nil
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.body.Read(buf)
}

func (p *peeked) Close() error { return p.body.Close() }
