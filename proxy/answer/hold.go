package answer

import (
	"io"
	"net/http"

	"laconic/proxy/wire"
)

// Hold has the first event of an answer held until it is known whether it is an
// error. The headers of the answer, and comments and blank lines before the event,
// are not held. decide is called once, by whoever reads res.Body: with the data of
// the error, or with nil if there is none. The body that it returns takes the place
// of the answer's, and its error ends that; without both the body goes on unchanged,
// and has every byte.
func Hold(res *http.Response, w wire.Wire, timer Timer, decide func(refusal []byte) (io.ReadCloser, error)) {
	h := &held{peeked: newPeeked(res, w, timer), decide: decide}
	res.Body = h
}

// held is a body whose first event is held.
type held struct {
	*peeked
	decide  func(refusal []byte) (io.ReadCloser, error) // nil once it was called
	free    int                                         // of what was seen, before the first event
	comment bool                                        // what follows it goes on with a comment
}

func (h *held) Read(buf []byte) (int, error) {
	for h.decide != nil {
		if h.free == 0 {
			h.free = h.alive()
		}
		if h.free > 0 {
			n, err := h.peeked.Read(buf[:min(h.free, len(buf))])
			h.free -= n
			return n, err
		}
		if len(h.seen) > 0 || h.err != nil {
			if refusal, known := h.judge(); known {
				h.decided(refusal)
				break
			}
		}
		h.more()
	}
	return h.peeked.Read(buf)
}

// alive returns how much of what was seen are comments and blanks, which say that
// the upstream is alive. They are handed on, and what is behind them is the start.
func (h *held) alive() (n int) {
	for _, c := range h.seen {
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

// decided ends the holding.
func (h *held) decided(refusal []byte) {
	decide := h.decide
	h.decide = nil
	instead, err := decide(refusal)
	if instead == nil && err == nil {
		return
	}
	h.seen = nil
	if h.err = err; instead != nil {
		_ = h.body.Close()
		h.body = instead
	}
}
