package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/plan"
)

// count forwards the question of how many tokens a request of some API has.
// Where the upstream has no such path it is answered here, for what would be sent.
func (x *request) count() (*body.Outgoing, http.RoundTripper, *apierror.Error) {
	x.wire = x.counts
	in, tokens, err := x.counted()
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

// counted returns what the body that would be sent costs; 0: that is not known.
func (x *request) counted() (in *body.Body, tokens int, err error) {
	if in, err = x.readBody(); err != nil {
		return nil, 0, err
	}
	req, err := x.decode(in)
	if err != nil {
		return nil, 0, err
	}
	c := x.planning(in, req)
	if p, err := c.plans(func() *plan.Plan { return c.PlanOrRepair(req) }); err == nil {
		tokens = p.Report.After
	}
	return in, tokens, nil
}

// tokenCounting answers in the place of an upstream that does not count.
type tokenCounting struct {
	via    http.RoundTripper
	tokens int
}

// mostNotFound is how much is read of the answer of an upstream without such a path.
const mostNotFound = 4 << 10

func (c *tokenCounting) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.via.RoundTrip(r)
	if err != nil || c.tokens == 0 {
		return res, err
	}
	has := func(word string) bool { return bytes.Contains(startOf(res, mostNotFound), []byte(word)) }
	switch res.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		if has("model") { // it has the path, and no such model
			return res, nil
		}
	case http.StatusOK: // of LM Studio, with an error in it
		if !has(`"error"`) || has("input_tokens") {
			return res, nil
		}
	default:
		return res, nil
	}
	_ = res.Body.Close()
	return ownAnswer(res, "application/json", fmt.Appendf(nil, "{\"input_tokens\":%d}\n", c.tokens)), nil
}

// startOf reads the start of an answer, and puts it back.
func startOf(res *http.Response, most int64) []byte {
	said, _ := io.ReadAll(io.LimitReader(res.Body, most))
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(said), res.Body), res.Body}
	return said
}

// ownAnswer returns an answer of the proxy's own in place of an upstream's.
func ownAnswer(to *http.Response, kind string, text []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: to.Proto, ProtoMajor: to.ProtoMajor, ProtoMinor: to.ProtoMinor, Request: to.Request,
		Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}
}
