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
func (x *exchange) read() (*body.Body, *apierror.Error) {
	limit := x.p.o.Limits.Body
	x.memory = x.p.memory.Reserve(x.p.clientOf(x.r))
	received, err := body.Receive(x.r, x.w.Controller, x.memory, limit)
	if err != nil {
		return nil, x.unreadable(err)
	}
	x.bodyRead = true
	in, err := x.p.decoder.Open(x.r.Context(), received, body.Encoding(x.r.Header), x.memory, limit)
	if err != nil {
		return nil, x.unreadable(err)
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
func (x *exchange) unreadable(err error) *apierror.Error {
	if no := body.Refusal(err, x.p.o.Limits.Body); no != nil {
		return no
	}
	if errors.Is(err, errShutdown) || errors.Is(context.Cause(x.r.Context()), errShutdown) {
		return shuttingDown()
	}
	return body.Broken()
}

// bodyRemains reports whether the client may still be sending its body.
func (x *exchange) bodyRemains() bool {
	if x.r.ContentLength == 0 || x.bodyRead || x.r.ProtoMajor != 1 || x.r.Header.Get("Expect") != "" {
		return false
	}
	return x.call == nil || x.call.upload == nil || !x.call.upload.Done()
}

// linger reads for a while what a client still sends that has its answer.
func (x *exchange) linger() {
	if x.call != nil {
		_ = x.call.upload.Close()
	}
	_ = x.w.FlushError()
	body.Drain(x.r.Body, x.w.Controller)
}
