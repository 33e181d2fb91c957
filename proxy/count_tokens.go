package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/plan"
	"laconic/proxy/wire"
)

// count forwards the question of how many tokens a request of some API has.
// Where the upstream has no such path it is answered here, for what would be sent.
func (x *request) count() (*body.Outgoing, http.RoundTripper, *apierror.Error) {
	x.wire = x.counts
	in, err := x.readBody()
	var req *wire.Request
	if err == nil {
		req, err = x.decode(in)
	}
	tokens := 0 // they are not known
	if err == nil {
		c := x.planning(in, req)
		if p, err := c.plans(func() *plan.Plan { return c.PlanOrRepair(req) }); err == nil {
			tokens = p.Report.After
		}
	}
	x.wire = nil // the answer is no message
	switch why := err.(type) {
	case nil:
	case *passed:
		in = why.in
	case *apierror.Error:
		return nil, nil, why
	}
	out, no := x.pass(&passed{in: in, outcome: Passed, reason: "route"})
	return out, &tokenCounting{x.p.transport, tokens}, no
}

// tokenCounting answers in the place of an upstream that does not count.
type tokenCounting struct {
	via    http.RoundTripper
	tokens int
}

func (c *tokenCounting) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.via.RoundTrip(r)
	if err != nil || c.tokens == 0 {
		return res, err
	}
	has := func(word string) bool { return bytes.Contains(apierror.Start(res), []byte(word)) }
	lmStudio := res.StatusCode == http.StatusOK && has(`"error"`) && !has("input_tokens")
	if !lmStudio && !apierror.NoPath(res) {
		return res, nil
	}
	_ = res.Body.Close()
	return ownAnswer(res, "application/json", fmt.Appendf(nil, "{\"input_tokens\":%d}\n", c.tokens)), nil
}

// ownAnswer returns an answer of the proxy's own in place of an upstream's.
func ownAnswer(to *http.Response, kind string, text []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: to.Proto, ProtoMajor: to.ProtoMajor, ProtoMinor: to.ProtoMinor, Request: to.Request,
		Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}
}
