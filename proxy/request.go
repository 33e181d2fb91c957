package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/admission"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

// request is one request of a client, with its answer. Every field is set once, by
// the step that knows it; info is completed until the end.
type request struct {
	p        *Proxy
	settings *settings // under which it began
	r        *http.Request
	w        *body.Writer
	wire     wire.Wire // nil: bodies of this endpoint are not read
	counts   wire.Wire // it asks what a request of that API would cost; nil: it does not
	start    time.Time

	overrides overrides
	route     *Route

	memory   *admission.Reservation // held for the body
	bodyRead bool                   // the client's body was read to its end
	via      http.RoundTripper      // what the request is sent by
	call     *call                  // to the upstream; nil while nothing was sent
	// attempt is the one whose answer the client gets; nil where the body was not
	// read.
	attempt *attempt
	info    ReplyInfo
	said    why.Reason // of our own answer

	records []string         // that sealed items of the request stand for
	client  string           // names who sends it: the client key, if there are such keys, else the address
	quota   *admission.Quota // of the client key; nil: it has none

	trace Trace // nil: nobody traces
}

func (p *Proxy) begin(w http.ResponseWriter, r *http.Request) *request {
	x := &request{
		p: p, settings: p.settings.Load(), r: r, w: body.NewWriter(w, r), start: time.Now(), via: p.transport,
		info: ReplyInfo{ID: randomID(), Endpoint: access.Endpoint(r.Method, r.URL.Path)},
	}
	if r.Method == http.MethodPost {
		x.wire, x.counts = wire.For(access.Exact(r.URL.Path))
	}
	if x.wire != nil {
		x.info.Wire = x.wire.Name()
	}
	if slices.Contains(access.Methods, r.Method) {
		x.info.Method = r.Method // any other word could be anything
	}
	if start := x.settings.StartTrace; start != nil {
		_ = x.try("trace", func() { x.trace = start(r, x.start) })
	}
	return x
}

// serve decides what becomes of the request, and sends it.
func (x *request) serve() *apierror.Error {
	if no := x.settings.guard.Check(x.r); no != nil {
		return no
	}
	if no := x.settings.keys.Check(x.r.Header); no != nil {
		return no
	}
	if no := x.takeQuota(); no != nil {
		return no
	}
	if s := x.settings.Service; s != nil && s.Serves(x.r) {
		return x.serveItself(s)
	}
	out, no := x.prepare()
	if no == nil {
		x.send(out)
	}
	return no
}

// prepare returns the body to send, nil for the client's own as it comes.
func (x *request) prepare() (out *body.Outgoing, no *apierror.Error) {
	var err error
	switch {
	case x.counts != nil:
		err = x.count()
	case x.wire == nil:
		in, no := x.byModel()
		if no != nil {
			return nil, no
		}
		err = &passed{in: in, outcome: Passed, reason: "route"}
	default:
		out, err = x.rewrite()
	}
	switch why := err.(type) {
	case nil:
		return out, nil
	case *passed:
		return x.pass(why)
	case *apierror.Error:
		return nil, why
	}
	panic("BUG: an error that is no answer")
}

// takeQuota counts the request for the client key that it came with, before anything is
// read of its body, or returns why it is refused.
func (x *request) takeQuota() *apierror.Error {
	i := x.settings.keys.Index(x.r.Header)
	if i < 0 {
		x.client = admission.ClientAt(x.r.RemoteAddr)
		return nil
	}
	key := &x.settings.ClientKeys[i]
	x.client = string(x.settings.keys[i][:]) // the same under all settings
	x.info.Client, x.quota = key.Name, &key.Quota
	return x.p.quotas.Take(x.client, key.Quota, x.start)
}

// serveItself lets the service answer.
func (x *request) serveItself(s Service) *apierror.Error {
	x.info.Own, x.info.Endpoint = true, x.r.URL.Path // one of a few, or it would not be served
	r := x.r.WithContext(x.r.Context())
	if r.Method == http.MethodPost {
		if !body.Readable(body.Encoding(r.Header)) {
			return &apierror.Error{Status: http.StatusUnsupportedMediaType, Code: "encoding_not_served", Message: "The body is compressed in a way that is not read.", Close: true}
		}
		in, no := x.read()
		switch {
		case no != nil:
			return no
		case in.Problem != "":
			return &apierror.Error{Status: http.StatusBadRequest, Code: "invalid_body", Message: "The body cannot be decompressed.", Detail: in.Problem}
		}
		r.Body, r.ContentLength = held{bytes.NewBuffer(in.Text)}, int64(len(in.Text))
	}
	h, id := x.w.Header(), x.info.ID
	if x.settings.ResponseHeaders {
		h.Set(headerID, id)
	}
	s.Serve(x.w, r, x.start, func(v any) { x.p.fault(id, "service", v) })
	x.info.Outcome = Outcome(h.Get(headerOutcome))
	return nil
}

// held is a body that is in memory: it has Bytes.
type held struct{ *bytes.Buffer }

func (held) Close() error { return nil }

// refuse answers in place of the upstream.
func (x *request) refuse(no *apierror.Error) {
	x.info.Own, x.info.Code, x.info.Detail = true, no.Code, no.Detail
	x.info.Outcome = cmp.Or(x.info.Outcome, Rejected)
	x.said = why.Reason{Says: strings.TrimSuffix(no.Message, "."), Fix: strings.TrimSuffix(no.Hint, ".")}
	x.stamp(x.w.Header())
	remains := x.bodyRemains()
	// In HTTP/2 it would end all requests of the connection, where the rest of a body
	// blocks none.
	no.Close = (no.Close || remains) && x.r.ProtoMajor == 1
	// All endpoints of no wire are of the same API.
	message, kind := no.Said()
	no.Write(x.w, cmp.Or(x.wire, x.counts, wire.Chat).Error(wire.Error{Message: message, Type: kind, Param: no.Param, Code: no.Code}))
	if remains {
		x.memory.Free()
		x.linger()
	}
}

// randomID names a request, or this process, in 16 letters and digits.
func randomID() string { return strings.ToLower(rand.Text()[:16]) }

// read reads a request's body whole.
func (x *request) read() (*body.Body, *apierror.Error) {
	limit := x.settings.Limits.Body
	x.memory = x.p.memory.Reserve(x.client)
	received, err := body.Receive(x.p.closing, x.r, x.w.Controller, x.memory, limit)
	if err != nil {
		return nil, x.unreadable(err)
	}
	x.bodyRead = true
	in, err := body.Open(x.r.Context(), received, body.Encoding(x.r.Header), x.memory, limit)
	if err != nil {
		return nil, x.unreadable(err)
	}
	return in, nil
}

// unreadable returns the answer to a request whose body could not be read.
func (x *request) unreadable(err error) *apierror.Error {
	if no := body.Refusal(err, x.settings.Limits.Body); no != nil {
		return no
	}
	if errors.Is(err, errShutdown) || errors.Is(context.Cause(x.r.Context()), errShutdown) {
		return shuttingDown()
	}
	return &apierror.Error{
		Status: http.StatusBadRequest, Code: "broken_body", Close: true,
		Message: "The request body ended before its end, or its framing is broken.",
	}
}

// bodyRemains reports whether the client may still be sending its body.
func (x *request) bodyRemains() bool {
	if x.r.ContentLength == 0 || x.bodyRead || x.r.ProtoMajor != 1 || x.r.Header.Get("Expect") != "" {
		return false
	}
	return x.call == nil || x.call.upload == nil || !x.call.upload.Done()
}

// linger reads for a while what a client still sends that has its answer.
func (x *request) linger() {
	if x.call != nil {
		_ = x.call.upload.Close()
	}
	_ = x.w.FlushError()
	body.Drain(x.r.Body, x.w.Controller)
}
