package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"laconic/proxy/apierror"
)

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
