package answer

import (
	"bytes"
	"io"
	"net/http"
	"slices"

	"laconic/proxy/overflow"
	"laconic/proxy/wire"
)

const (
	// mostError is how much of an error is read before it goes to the client. A
	// longer answer is no error, and may have no end.
	mostError = 1 << 20
	// leastRead is the room for one read of the start of an answer.
	leastRead = 4 << 10
	// mostJudged bounds how many bytes are looked at, in all looks together: an
	// answer that comes byte by byte is judged at every byte. A look costs at
	// least leastJudged.
	mostJudged  = 16 << 20
	leastJudged = 4 << 10
)

// Hold has the first event of an answer held until it is known whether it is an
// error. The headers of the answer, and comments and blank lines before the event,
// are not held. decide is called once, by whoever reads res.Body: with the data of
// the error, or with nil if there is none. The body that it returns takes the place
// of the answer's, and its error ends that; without both the body goes on unchanged,
// and has every byte.
func Hold(res *http.Response, w wire.Wire, timer Timer, decide func(refusal []byte) (io.ReadCloser, error)) {
	newHeld(res, w, timer).decide = decide
}

// Peek returns the error by which the upstream refused the request, or nil if there is
// none. With status 200 it reads the first event, comment or byte, and the error is the
// data of that event. With the status of an error it reads all. res.Body still returns
// every byte.
func Peek(res *http.Response, w wire.Wire, timer Timer) (refusal []byte) {
	switch res.StatusCode {
	case http.StatusOK:
		h := newHeld(res, w, timer)
		for known := false; !known; {
			h.more()
			if refusal, known = h.judge(); h.alive(1) > 0 {
				break
			}
		}
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError:
		h := newHeld(res, w, timer)
		for h.err == nil && len(h.seen) < mostError {
			h.more()
		}
		if h.err == io.EOF {
			refusal = append([]byte{}, h.seen...) // one of no bytes is an error, too
		}
	}
	return refusal
}

// held is a body whose start is read before it is handed on.
type held struct {
	body    io.ReadCloser
	length  int64 // -1: not known
	wire    wire.Wire
	timer   Timer
	seen    []byte
	err     error                                       // came with what was seen
	looked  int                                         // how much of it was looked at
	judged  int                                         // in all looks together
	decide  func(refusal []byte) (io.ReadCloser, error) // nil once it was called, or if nobody asks
	comment bool                                        // what follows it goes on with a comment
}

// newHeld takes the place of the body of res.
func newHeld(res *http.Response, w wire.Wire, timer Timer) *held {
	h := &held{body: res.Body, length: res.ContentLength, wire: w, timer: timer}
	res.Body = h
	return h
}

// more reads on.
func (h *held) more() {
	h.seen = slices.Grow(h.seen, leastRead)
	h.timer.Start()
	n, err := h.body.Read(h.seen[len(h.seen):cap(h.seen)])
	h.timer.Stop()
	h.seen, h.err = h.seen[:len(h.seen)+n], err
}

// judge reports whether it is known what the answer begins with, and returns the
// error if it begins with one.
func (h *held) judge() (refusal []byte, known bool) {
	whole := h.err == io.EOF || h.length >= 0 && int64(len(h.seen)) >= h.length
	from := h.looked
	h.looked = len(h.seen)
	if from > overflow.MostUndecided && !whole && h.err == nil && h.looked < mostError && !bytes.ContainsAny(h.seen[from:], "\r\n") {
		return nil, false // an event that opens a stream goes on
	}
	refusal, known = h.wire.FirstEvent(h.seen, whole)
	h.judged += leastJudged + len(h.seen)
	return bytes.Clone(refusal), known || h.err != nil || len(h.seen) >= mostError || h.judged >= mostJudged
}

// alive returns how much of what was seen are comments and blanks, which say that
// the upstream is alive, of at most so many bytes. They are handed on, and what is behind
// them is the start.
func (h *held) alive(most int) (n int) {
	for _, c := range h.seen[:min(len(h.seen), most)] {
		switch {
		case c == '\n' || c == '\r':
			h.comment = false
		case c == ':':
			h.comment = true
		case !h.comment && c != ' ' && c != '\t':
			return n
		}
		n++
	}
	return n
}

func (h *held) Read(buf []byte) (int, error) {
	for h.decide != nil {
		if n := copy(buf, h.seen[:h.alive(len(buf))]); n > 0 {
			h.seen = h.seen[n:]
			return n, nil
		}
		if len(h.seen) > 0 || h.err != nil {
			if refusal, known := h.judge(); known {
				decide := h.decide
				h.decide = nil
				instead, err := decide(refusal)
				if instead != nil {
					_ = h.body.Close()
					h.body = instead
				}
				if instead != nil || err != nil {
					h.seen, h.err = nil, err
				}
				break
			}
		}
		h.more()
	}
	if len(h.seen) > 0 {
		n := copy(buf, h.seen)
		if h.seen = h.seen[n:]; len(h.seen) == 0 {
			h.seen = nil // a stream may go on for an hour
		}
		return n, nil
	}
	if h.err != nil {
		return 0, h.err
	}
	return h.body.Read(buf)
}

func (h *held) Close() error { return h.body.Close() }
