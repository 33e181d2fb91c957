package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"laconic/proxy/apierror"
)

// count passes the question of how many tokens a request of some API has.
// Where the upstream has no such path it is answered here, for what would be sent.
func (x *request) count() error {
	x.wire = x.counts
	in, req, err := x.decode()
	tokens := 0 // they are not known
	if err == nil {
		c := x.planning(req)
		_ = x.try("compact", func() { tokens = c.PlanOrRepair(req).Report.After })
	}
	x.wire = nil // the answer is no message
	if no, refused := err.(*apierror.Error); refused {
		return no
	}
	x.via = &tokenCounting{x.p.transport, tokens}
	return &passed{in: in, outcome: Passed, reason: "route"}
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
