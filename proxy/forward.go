package proxy

import (
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/answer"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
)

// byScheme keeps idle connections for less long where no TLS has to be agreed on anew: llama.cpp, the server of vLLM and
// SGLang, and Node, which LM Studio is made of, close them after five seconds, and a request may meet that.
type byScheme map[string]*http.Transport

// How long an idle connection is kept: below what servers without TLS, and servers and balancers with it, commonly
// keep, or a request meets a connection that is just being closed.
const (
	plainIdleTime = 4 * time.Second
	tlsIdleTime   = 50 * time.Second
)

func newTransport(l *Limits) byScheme {
	return byScheme{"http": transportFor(l, plainIdleTime), "https": transportFor(l, tlsIdleTime)}
}

// RoundTrip implements [http.RoundTripper].
func (t byScheme) RoundTrip(r *http.Request) (*http.Response, error) {
	return t[r.URL.Scheme].RoundTrip(r) // no upstream has another
}

// CloseIdleConnections closes those of both.
func (t byScheme) CloseIdleConnections() {
	for _, one := range t {
		one.CloseIdleConnections()
	}
}

// transportFor is sized for streams: as many idle connections per host as
// there may be clients, and no limit on an answer but silence.
func transportFor(l *Limits, idle time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		// As every command-line tool does; localhost is never asked through it.
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true, // a DialContext of one's own turns it off
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: l.ResponseHeader,
		// The default of 2 makes 40 times the connections at 100 in parallel.
		MaxIdleConnsPerHost:    512,
		IdleConnTimeout:        idle,
		MaxResponseHeaderBytes: 256 << 10,
		// Else Go adds Accept-Encoding and unzips: the answer would change.
		DisableCompression: true,
		// A half-open HTTP/2 connection is noticed by nothing else.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// call is the sending of a request to its upstream.
type call struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  *body.Watch
	body   *body.Outgoing // held in memory, or
	upload *body.Incoming // streamed; neither of a request without a body
	answer *answer.Body   // once there is one
	via    http.RoundTripper
}

// mostInterim bounds the answers of status 1xx before the answer itself.
const mostInterim = 100

// RoundTrip sends the body itself, which ReverseProxy has put behind another one. It ends
// a request whose upstream sends one answer of status 1xx after the other.
func (c *call) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.body != nil && r.Body != nil { // an empty one has none
		r.Body = c.body
	}
	interim := 0
	count := func(int, textproto.MIMEHeader) error {
		if interim++; interim > mostInterim {
			c.cancel(apierror.ErrStatus)
		}
		return nil
	}
	return c.via.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{Got1xxResponse: count})))
}

// sent reports whether the whole body went to the upstream, which may then have
// started to work on it. A request without a body changes nothing there.
func (c *call) sent() bool {
	switch {
	case c == nil:
	case c.body != nil:
		return c.body.Sent()
	case c.upload != nil:
		return c.upload.Done()
	}
	return false
}

// end releases what a call holds.
func (c *call) end() {
	c.cancel(nil)
	c.watch.Stop()
	if c.body != nil {
		c.body.Release()
		_ = c.body.Close()
	}
}

// quiet swallows what ReverseProxy would log: it writes parts of answers, and the
// listener is told all of it.
var quiet = log.New(io.Discard, "", 0)

// send forwards the request with out as its body, or, if out is nil, with the client's
// own body as it comes; and hands the answer on.
func (x *request) send(out *body.Outgoing) {
	ctx, cancel := context.WithCancelCause(x.r.Context())
	x.call = &call{ctx: ctx, cancel: cancel, via: x.via, watch: body.NewWatch(x.settings.Limits.ResponseHeader, x.settings.Limits.StreamIdle, cancel), body: out}
	in := x.r.WithContext(ctx)
	if out != nil {
		out.Watch = x.call.watch
		in.Body, in.ContentLength = out, int64(out.Len())
	} else if in.ContentLength != 0 {
		x.call.upload = body.NewIncoming(x.p.closing, in.Body, x.w.Controller, x.call.watch)
		in.Body = x.call.upload
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: x.outbound, Transport: x.call, FlushInterval: -1, BufferPool: body.Buffers{}, ErrorLog: quiet, ErrorHandler: x.unanswered,
	}
	proxy.ModifyResponse = func(res *http.Response) error {
		if res.ContentLength >= 0 {
			proxy.FlushInterval, x.w.Length = 0, res.ContentLength
		}
		return x.answered(res)
	}
	defer func() { _ = x.call.upload.Close() }()
	proxy.ServeHTTP(x.w, in)
	if x.settings.ResponseHeaders {
		maps.DeleteFunc(x.w.Header(), func(name string, _ []string) bool { // of the trailers that came
			came, is := strings.CutPrefix(name, http.TrailerPrefix)
			return is && ours(came)
		})
	}
	if x.call.answer != nil && x.bodyRemains() {
		x.linger() // the upstream answered before it had all
	}
}

// outbound makes the upstream's request out of the client's. ReverseProxy has
// already removed what is hop by hop, and X-Forwarded-*.
func (x *request) outbound(pr *httputil.ProxyRequest) {
	out := pr.Out
	out.URL = access.UpstreamURL(x.route.Upstream, x.r.URL)
	out.Host = "" // the URL's
	out.GetBody = rewind(x.call.body, out.Header)
	out.Trailer, out.TransferEncoding = nil, nil
	maps.DeleteFunc(out.Header, func(name string, _ []string) bool { return notForUpstream(name) })
	if x.info.Rewrite != nil {
		// Its answer is read. RFC 9110 §12.5.3: an answer without an encoding is
		// acceptable to every client that does not exclude it, and none does.
		out.Header.Set("Accept-Encoding", "identity")
	}
	x.settings.setCredential(out.Header, x.route, x.info.Endpoint)
	version := strconv.Itoa(x.r.ProtoMajor) + "." + strconv.Itoa(x.r.ProtoMinor)
	out.Header.Add("Via", version+" "+x.p.mark)
	if x.info.Steps.Sending = time.Since(x.start); x.trace != nil {
		_ = x.try("trace", func() { x.trace.Sending(out) })
	}
}

// rewind returns the GetBody of a request, by which Go sends a body again that the
// upstream did not see: where a kept connection turned out to be closed before
// anything was written, or an HTTP/2 server said that it did not look at it.
// With an idempotency key Go would go further and repeat what may have run, so
// such a request has none.
func rewind(b *body.Outgoing, h http.Header) func() (io.ReadCloser, error) {
	_, key := h["Idempotency-Key"]
	_, older := h["X-Idempotency-Key"]
	if b == nil || !b.Keeping() || key || older {
		return nil
	}
	return b.Again
}

// notForUpstream reports whether a header is for us alone. Expect would make an
// upstream that does not answer it cost a second (CVE-2024-24791 and older).
// A name with underscores is looked at as its twin with dashes, as servers
// behind CGI-like interfaces do.
func notForUpstream(name string) bool {
	plain := access.Dashed(name)
	switch {
	case plain == "expect", plain == "x-real-ip", plain == "http2-settings", ours(name):
		return true
	case !strings.Contains(name, "_"):
		return false
	}
	switch plain {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
		"proxy-connection", "proxy-authorization", "forwarded", "via":
		return true
	}
	return strings.HasPrefix(plain, "x-forwarded-")
}

// dropAboutBytes removes the headers that say something of a body's bytes, which is
// wrong of other bytes.
func dropAboutBytes(h http.Header) {
	for _, name := range []string{"Content-Encoding", "Content-Length", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest"} {
		h.Del(name)
	}
}

// answered sees the upstream's headers before the client does.
func (x *request) answered(res *http.Response) error {
	x.call.watch.Answered()
	x.info.FirstByte = time.Since(x.start)
	if res.StatusCode < http.StatusOK { // none that a final answer has
		return apierror.ErrStatus
	}
	if x.bodyRemains() { // net/http would read the rest of it before it lets the answer go
		_ = x.w.Controller.EnableFullDuplex()
		res.Header.Set("Connection", "close")
	}
	keep := x.wire != nil && res.StatusCode == http.StatusOK && body.Encoding(res.Header) == ""
	x.call.answer = answer.New(res, x.call.watch, keep)
	if x.call.answer.Stream {
		x.p.streaming.Add(1)
	}
	res.Body = x.call.answer
	if x.settings.ResponseHeaders {
		clean(res.Trailer) // as far as it is announced
	}
	x.stamp(res.Header)
	return nil
}

// stamp writes what happened to the request on the headers of its answer. An
// upstream that is a Laconic too has written its own there; they would be
// taken for ours.
func (x *request) stamp(h http.Header) {
	if !x.settings.ResponseHeaders {
		return
	}
	clean(h)
	set := func(name, value string) {
		if value != "" {
			h.Set(name, value)
		}
	}
	set(headerID, x.info.ID)
	set(headerOutcome, string(x.info.Outcome))
	ignored := x.overrides.unknown
	if n := x.overrides.unmatched; n > 0 {
		ignored = append(slices.Clip(ignored), fmt.Sprintf("%s;unmatched=%d", strings.ToLower(headerPin), n))
	}
	set(headerIgnored, strings.Join(ignored, ", "))
	set(headerWhy, x.shownReason())
	if i := x.info.Rewrite; i != nil {
		set(headerBefore, strconv.Itoa(i.Report.Before))
		set(headerAfter, strconv.Itoa(i.Report.After))
		set(headerBudget, strconv.Itoa(i.Report.Budget))
		set(headerKind, i.Kind)
		set(headerStages, stages(i))
	}
}
