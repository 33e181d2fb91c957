package proxy

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"laconic/proxy/admission"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
)

// read reads a request's body whole.
func (t *trip) read() (*body.Body, *apierror.Error) {
	limit := t.p.o.Limits.Body
	t.seat = t.p.memory.Reserve(t.p.clientOf(t.r))
	received, err := body.Receive(t.r, t.w.Controller, t.seat, limit)
	if err != nil {
		return nil, t.unreadable(err)
	}
	t.wholeBody = true
	in, err := t.p.decoder.Open(t.r.Context(), received, body.Encoding(t.r.Header), t.seat, limit)
	if err != nil {
		return nil, t.unreadable(err)
	}
	return in, nil
}

// clientOf names who sends a request, for sharing out memory: by the client key if
// there are such keys, else by the address of the connection.
func (p *Proxy) clientOf(r *http.Request) string {
	if len(p.keys) > 0 {
		return "key " + strconv.Itoa(p.keys.Index(r.Header))
	}
	return admission.ClientAt(r.RemoteAddr)
}

// unreadable returns the answer to a request whose body could not be read.
func (t *trip) unreadable(err error) *apierror.Error {
	if no := body.Refusal(err, t.p.o.Limits.Body); no != nil {
		return no
	}
	if errors.Is(err, errShutdown) || errors.Is(context.Cause(t.r.Context()), errShutdown) {
		return shuttingDown()
	}
	return body.Broken()
}

// bodyUnread reports whether the client may still be sending its body.
func (t *trip) bodyUnread() bool {
	if t.r.ContentLength == 0 || t.wholeBody || t.r.ProtoMajor != 1 || t.r.Header.Get("Expect") != "" {
		return false
	}
	return t.up == nil || !t.up.Done()
}

// linger reads for a while what a client still sends that has its answer.
func (t *trip) linger() {
	_ = t.up.Close()
	_ = t.w.FlushError()
	body.Drain(t.r.Body, t.w.Controller)
}
