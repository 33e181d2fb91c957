package proxy

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/answer"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
)

// newTransport is sized for streams: as many idle connections per host as
// there may be clients, and no limit on an answer but silence.
func newTransport(l *Limits) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		// As every command-line tool does; localhost is never asked through it.
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true, // a DialContext of one's own turns it off
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: l.ResponseHeader,
		// The default of 2 makes 40 times the connections at 100 in parallel.
		MaxIdleConnsPerHost: 512,
		// Below what servers and balancers commonly keep, or a request meets a
		// connection that is just being closed.
		IdleConnTimeout:        50 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		// Else Go adds Accept-Encoding and unzips: the answer would change.
		DisableCompression: true,
		// A half-open HTTP/2 connection is noticed by nothing else.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// line is the connection of one trip to its upstream.
type line struct {
	done   context.Context
	cancel context.CancelCauseFunc
	watch  *body.Watch
}

// quiet swallows what ReverseProxy would log: it writes parts of answers, and
// trip tells the listener all of it.
var quiet = log.New(io.Discard, "", 0)

// send forwards the request with out as its body, or, when out is nil, with the client's
// own body as it comes; and hands the answer on.
func (t *trip) send(out *body.Outgoing) {
	t.out = out
	ctx, cancel := context.WithCancelCause(t.r.Context())
	t.line = &line{done: ctx, cancel: cancel, watch: body.NewWatch(t.p.o.Limits.ResponseHeader, t.p.o.Limits.StreamIdle, cancel)}
	in := t.r.WithContext(ctx)
	if out != nil {
		out.Watch = t.line.watch
		in.Body, in.ContentLength = out, int64(out.Len())
	} else if in.ContentLength != 0 {
		t.up = body.NewUpload(in.Body, t.w.Controller, t.line.watch)
		in.Body = t.up
	}
	proxy := httputil.ReverseProxy{
		Rewrite: t.outbound, Transport: t.way(), FlushInterval: -1, BufferPool: &t.p.buffers,
		ErrorLog: quiet, ModifyResponse: t.answered, ErrorHandler: t.unanswered,
	}
	defer func() { _ = t.up.Close() }()
	proxy.ServeHTTP(t.w, in)
	if t.answer != nil && t.bodyUnread() {
		t.linger() // the upstream answered before it had all
	}
}

// outbound makes the upstream's request out of the client's. ReverseProxy has
// already removed what is hop by hop, and X-Forwarded-*.
func (t *trip) outbound(pr *httputil.ProxyRequest) {
	out := pr.Out
	out.URL = access.UpstreamURL(t.route.Upstream, t.r.URL)
	out.Host = "" // the URL's
	out.GetBody = t.rewind(out.Header)
	out.Trailer, out.TransferEncoding = nil, nil
	for name, values := range out.Header {
		if t.learnt != nil && aboutBytes(name) && !strings.EqualFold(name, "Content-Length") {
			t.sending.note(name, values)
		}
		if notForUpstream(name) || t.edited && aboutBytes(name) {
			delete(out.Header, name)
		}
	}
	if t.info.Rewrite != nil {
		// Its answer is read. RFC 9110 §12.5.3: an answer without an encoding is
		// acceptable to every client that does not exclude it, and none does.
		out.Header.Set("Accept-Encoding", "identity")
	}
	t.p.setCredential(out.Header, t.route, t.info.Endpoint)
	version := strconv.Itoa(t.r.ProtoMajor) + "." + strconv.Itoa(t.r.ProtoMinor)
	out.Header.Add("Via", version+" "+t.p.mark)
}

// rewind returns the GetBody of a request, by which Go sends a body again that the
// upstream did not see: where a kept connection turned out to be closed before
// anything was written, or an HTTP/2 server said that it did not look at it.
// With an idempotency key Go would go further and repeat what may have run, so
// such a request has none.
func (t *trip) rewind(h http.Header) func() (io.ReadCloser, error) {
	_, key := h["Idempotency-Key"]
	_, older := h["X-Idempotency-Key"]
	if t.out == nil || !t.out.Keeping() || key || older {
		return nil
	}
	return t.out.Again
}

// notForUpstream tells whether a header is for us alone. Expect would make an
// upstream that does not answer it cost a second (CVE-2024-24791 and older).
// A name with underscores is looked at as its twin with dashes, as servers
// behind CGI-like interfaces do.
func notForUpstream(name string) bool {
	plain := access.Dashed(name)
	switch plain {
	case "expect", "x-real-ip", "http2-settings":
		return true
	}
	if strings.HasPrefix(plain, "x-laconic-") {
		return true
	}
	if !strings.Contains(name, "_") {
		return false
	}
	switch plain {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
		"proxy-connection", "proxy-authorization", "forwarded", "via":
		return true
	}
	return strings.HasPrefix(plain, "x-forwarded-")
}

// aboutBytes tells whether a header says something of a body's bytes that is
// wrong once they were edited.
func aboutBytes(name string) bool {
	switch strings.ToLower(name) {
	case "content-encoding", "content-length", "content-md5", "digest", "content-digest", "repr-digest":
		return true
	}
	return false
}

// answered sees the upstream's headers before the client does.
func (t *trip) answered(res *http.Response) error {
	t.line.watch.Answered()
	t.info.FirstByte = time.Since(t.start)
	if res.StatusCode == http.StatusSwitchingProtocols {
		return apierror.ErrSwitchedProtocols
	}
	keep := t.wire != nil && res.StatusCode == http.StatusOK && body.Encoding(res.Header) == ""
	t.answer = answer.New(res, t.line.watch, keep)
	res.Body = t.answer
	t.stamp(res.Header)
	return nil
}
