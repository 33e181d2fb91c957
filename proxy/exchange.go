package proxy

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/admission"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/wire"
)

// exchange is one request of a client and its answer. Every field is set once, by
// the step that knows it; info is completed until the end.
type exchange struct {
	p     *Proxy
	r     *http.Request
	w     *body.Writer
	wire  wire.Wire // nil: bodies of this endpoint are not read
	start time.Time

	overrides overrides
	route     *Route

	memory   *admission.Reservation // held for the body
	bodyRead bool                   // the client's body was read to its end
	call     *call                  // to the upstream; nil while nothing was sent
	// attempt is the one whose answer the client gets; nil where the body was not
	// read.
	attempt *attempt
	info    ReplyInfo
}

func (p *Proxy) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{
		p: p, r: r, w: body.NewWriter(w, r), start: time.Now(),
		info: ReplyInfo{ID: randomID(), Endpoint: access.Endpoint(r.Method, r.URL.Path)},
	}
	if r.Method == http.MethodPost {
		x.wire = wire.For(x.info.Endpoint)
	}
	x.info.Chat = x.wire != nil
	if slices.Contains(access.Methods, r.Method) {
		x.info.Method = r.Method // any other word could be anything
	}
	return x
}

// serve decides what becomes of the request, and sends it.
func (x *exchange) serve() *apierror.Error {
	if no := x.p.guard.Check(x.r); no != nil {
		return no
	}
	if no := x.p.keys.Check(x.r.Header); no != nil {
		return no
	}
	out, via, no := x.prepare()
	if no != nil {
		return no
	}
	x.send(out, via)
	return nil
}

// prepare returns the body to send, nil for the client's own as it comes, and what
// to send it by.
func (x *exchange) prepare() (out *body.Outgoing, via http.RoundTripper, no *apierror.Error) {
	via = x.p.transport
	if x.wire == nil {
		in, no := x.byModel()
		if no == nil {
			out, no = x.pass(&passed{in: in, outcome: Passed, reason: "route"})
		}
		return out, via, no
	}
	out, via, err := x.rewrite()
	switch why := err.(type) {
	case nil:
		return out, via, nil
	case *passed:
		out, no = x.pass(why)
		return out, x.p.transport, no
	case *apierror.Error:
		return nil, nil, why
	}
	panic("BUG: an error that is no answer")
}

// refuse answers in place of the upstream.
func (x *exchange) refuse(no *apierror.Error) {
	x.info.Own, x.info.Code, x.info.Detail = true, no.Code, no.Detail
	if x.info.Outcome == "" {
		x.info.Outcome = Rejected
	}
	x.stamp(x.w.Header())
	remains := x.bodyRemains()
	// In HTTP/2 it would end all requests of the connection; what is not read of
	// a body there is in nobody's way.
	no.Close = (no.Close || remains) && x.r.ProtoMajor == 1
	no.Write(x.w)
	if remains {
		x.memory.Free()
		x.linger()
	}
}

// randomID names a request, or this process, in 16 letters and digits.
func randomID() string { return strings.ToLower(rand.Text()[:16]) }
