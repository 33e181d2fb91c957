package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"laconic/compact/compacttest"
	"laconic/proxy/apierror"
)

func TestErrorsOfTheUpstreamArriveUnchanged(t *testing.T) {
	headers := map[string]string{
		"Content-Type": "application/json; odd=1", "Retry-After": "7", "Retry-After-Ms": "7000", "X-Should-Retry": "true", "X-Request-Id": "req_1",
		"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Requests": "1s", "Openai-Processing-Ms": "5", "Cf-Ray": "x", "Set-Cookie": "a=b",
	}
	for _, status := range []int{400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529} {
		for _, body := range []string{`{"error":{"message":"x"}}`, "", "<html>\xff", "\n\n {"} {
			u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range headers {
					w.Header().Set(k, v)
				}
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			})
			p := inFrontOf(t, u)
			res := p.chat(chatBody)
			if res.StatusCode != status || string(res.body) != body {
				t.Errorf("%d %q: got %d %q", status, body, res.StatusCode, res.body)
			}
			for k, v := range headers {
				if got := res.Header.Values(k); len(got) != 1 || got[0] != v {
					t.Errorf("%d: %s: %q, want %q", status, k, got, v)
				}
			}
			u.only(t) // and nothing was tried again
			if r := p.replies(1)[0]; r.Own || r.Code != "" || r.Status != status {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestAnUpstreamOutOfReachIsAnErrorOfOurs(t *testing.T) {
	closed := listening()
	refused := "http://" + closed.Addr().String() + "/v1?secretquery=1"
	_ = closed.Close()
	tlsServer := httptest.NewUnstartedServer(http.NotFoundHandler())
	tlsServer.Config.ErrorLog = quiet
	tlsServer.StartTLS()
	defer tlsServer.Close()
	plain := newUpstream(t, nil)

	f := func(name string, o Options, status int, code, detail string) {
		t.Run(name, func(t *testing.T) {
			o := o
			o.Default.Key, o.Overrides = "sk-canary", false
			res := start(t, o).chat(chatBody)
			if res.StatusCode != status || res.code(t) != code {
				t.Errorf("%d %s", res.StatusCode, res.body)
			}
			if res.Header.Get("X-Should-Retry") != "" {
				t.Error("nothing was sent, and yet no retry is wanted")
			}
			host := o.Default.Upstream.Host
			for _, secret := range []string{"canary", host, "secretquery", "127.0.0.1"} {
				if bytes.Contains(res.body, []byte(secret)) {
					t.Errorf("%q shows in %s", secret, res.body)
				}
			}
		})
		// A client that may change settings may know the address.
		p := start(t, o)
		res := p.chat(chatBody)
		says, r := string(res.body), p.replies(1)[0]
		if !strings.Contains(says, o.Default.Upstream.Host) || !strings.Contains(says, detail) || strings.Contains(says, "secretquery") {
			t.Errorf("%s: the client is told %s", name, says)
		}
		if in := res.Header.Get(headerWhy); in != r.Why.String() || !strings.Contains(says, strings.TrimPrefix(r.Why.Says, "the ")) {
			t.Errorf("%s: the header has %q, the log %q, the error %s", name, in, r.Why, says)
		}
		if !r.Unsent || !strings.Contains(r.Detail, detail) || strings.Contains(r.Detail, "secretquery") || !r.Own || r.Outcome != Untouched {
			t.Errorf("%s: detail %q, want %q", name, r.Detail, detail)
		}
	}
	f("refused", options(parseURL(t, refused)), 502, "upstream_unreachable", "connection refused")
	f("certificate", options(parseURL(t, tlsServer.URL)), 502, "upstream_unreachable", "certificate")
	f("no TLS there", options(parseURL(t, strings.Replace(plain.URL, "http:", "https:", 1))), 502, "upstream_unreachable", "it speaks http, not https")
	with := func(err error) Options {
		o := options(parseURL(t, "https://upstream.test/v1"))
		o.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, err })
		return o
	}
	f("no such name", with(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "upstream.test", IsNotFound: true}}),
		502, "upstream_unreachable", "no such host")
	f("dial timeout", with(&net.OpError{Op: "dial", Net: "tcp", Err: timeoutError{}}), 504, "upstream_timeout", "dial tcp")
	f("no answer to a handshake", with(handshakeTimeout{}), 504, "upstream_timeout", "TLS handshake: timeout")
	f("an error that quotes its peer", with(errors.New(`malformed response "secretquery canary"`)), 502, "upstream_unreachable", "not understood")
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

type handshakeTimeout struct{ timeoutError }

func (handshakeTimeout) Error() string { return "net/http: TLS handshake timeout" }

func TestAnErrorAfterTheBodyWasSentSaysNotToRetry(t *testing.T) {
	for name, answer := range map[string]string{"closed": "", "half a head": "HTTP/1.1 200 OK\r\nConte", "not HTTP": "hello, this is SMTP\r\n"} {
		t.Run(name, func(t *testing.T) {
			base, hits := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) { _, _ = io.WriteString(conn, answer) })
			p := start(t, options(base))
			res := p.chat(chatBody, "Idempotency-Key", "abc") // by which Go would replay a body it can rewind
			if res.StatusCode != 502 || res.code(t) != "upstream_broke" || res.Header.Get("X-Should-Retry") != "false" {
				t.Errorf("%d %s %v", res.StatusCode, res.body, res.Header)
			}
			if n := hits(); n != 1 {
				t.Errorf("%d hits", n)
			}
		})
	}
}

// A status that ends no answer, or is none, is the upstream's fault: no tunnel, and
// no panic.
func TestAStatusThatIsNone(t *testing.T) {
	for _, head := range []string{"099 Odd", "000 Odd", "101 Odd", "101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade"} {
		base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
			_, _ = io.WriteString(conn, "HTTP/1.1 "+head+"\r\nContent-Length: 0\r\n\r\nraw")
		})
		p := start(t, options(base))
		if res := p.chat(chatBody); res.StatusCode != http.StatusBadGateway || res.code(t) != apierror.CodeProtocol {
			t.Errorf("%s: %d %s", head, res.StatusCode, res.body)
		}
		if all := p.faults(); len(all) != 0 {
			t.Errorf("%s: %+v", head, all)
		}
	}
}

func TestOddAnswersArrive(t *testing.T) {
	t.Run("endless headers", func(t *testing.T) {
		base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for i := range 100_000 {
				if _, err := fmt.Fprintf(conn, "X-%d: %s\r\n", i, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		})
		start(t, options(base)).chat(chatBody).want(t, 502)
	})
	t.Run("early hints", func(t *testing.T) {
		base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
			_, _ = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		})
		res := start(t, options(base)).chat(chatBody)
		if res.StatusCode != 200 || string(res.body) != "ok" || res.Header.Get("X-Laconic-Outcome") != "untouched" {
			t.Errorf("%d %q %v", res.StatusCode, res.body, res.Header)
		}
	})
	t.Run("hints without end", func(t *testing.T) {
		base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
			for { // Close ends it
				if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"); err != nil {
					return
				}
			}
		})
		p := start(t, options(base))
		got := raw(t, p.addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "+fmt.Sprint(len(chatBody))+"\r\n\r\n"+chatBody)
		if end := got[strings.LastIndex(got, "HTTP/1.1"):]; !strings.HasPrefix(end, "HTTP/1.1 502") || !strings.Contains(end, apierror.ErrStatus.Error()) {
			t.Errorf("%d hints, then %.900s", strings.Count(got, "HTTP/1.1 103"), end)
		}
	})
	t.Run("a close-delimited answer", func(t *testing.T) {
		base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
			_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\nok")
		})
		if res := start(t, options(base)).chat(chatBody); res.StatusCode != 200 || string(res.body) != "ok" || res.err != nil {
			t.Errorf("%d %q %v", res.StatusCode, res.body, res.err)
		}
	})
	for _, status := range []int{204, 304} {
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if res := inFrontOf(t, u).chat(chatBody); res.StatusCode != status || len(res.body) != 0 {
			t.Errorf("%d: %d %q", status, res.StatusCode, res.body)
		}
	}
	t.Run("HEAD", func(t *testing.T) {
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000") })
		if res := inFrontOf(t, u).do("HEAD", "/v1/models", nil); res.StatusCode != 200 || res.ContentLength != 1000 || res.err != nil {
			t.Errorf("%+v", res)
		}
	})
	t.Run("a laconic behind this one", func(t *testing.T) {
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Laconic-Outcome", "compacted")
			w.Header().Set("X-Laconic-Stages", "theirs;n=1")
		})
		if h := inFrontOf(t, u).chat(chatBody).Header; h.Get("X-Laconic-Outcome") != "untouched" || h.Get("X-Laconic-Stages") != "" {
			t.Errorf("%v", h)
		}
		off := inFrontOf(t, u, func(o *Options) { o.ResponseHeaders = false })
		if h := off.chat(chatBody).Header; h.Get("X-Laconic-Outcome") != "compacted" {
			t.Errorf("%v", h)
		}
	})
}

// heap is what is reachable.
func heap() uint64 {
	for range 3 { // what is in a pool outlives one
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// An upstream that says early that a body is too large, and reads no further, is
// heard also by a client that reads its answer only when it has sent everything.
func TestAnEarlyAnswerReachesAClientThatIsStillSending(t *testing.T) {
	done := make(chan struct{})
	base := rawListener(t, func(conn *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large")
		<-done
	})
	t.Cleanup(func() { close(done) })
	house := Route{Match: "house-*", Upstream: parseURL(t, "http://127.0.0.1:1/v1"), Policy: testPolicy(), Counter: compacttest.Words{}}
	p := start(t, options(base))
	o := options(base)
	o.Routes = []*Route{&house}
	parted := start(t, o)
	body := bytes.Repeat([]byte("x"), 12<<20)
	f := func(p *running, path, headers string, body []byte) {
		t.Helper()
		conn := dial(t, p.addr)
		if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", path, headers); err != nil {
			t.Error(err)
		}
		if _, err := conn.Write(body); err != nil {
			t.Errorf("%s %s: the client could not send: %v", path, headers, err)
			return
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s %s: %v", path, headers, err)
			return
		}
		text, err := io.ReadAll(res.Body)
		if res.StatusCode != 413 || string(text) != "too large" || err != nil {
			t.Errorf("%s %s: %d %q %v", path, headers, res.StatusCode, text, err)
		}
	}
	f(p, "/v1/embeddings", fmt.Sprintf("Content-Length: %d", len(body)), body)
	f(p, "/v1/files", "Transfer-Encoding: chunked", fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(body), body))
	head := []byte("--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\ngpt-4o\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n")
	form := slices.Concat(head, body, []byte("\r\n--x--\r\n"))
	f(parted, "/v1/audio/transcriptions", fmt.Sprintf("Content-Type: multipart/form-data; boundary=x\r\nContent-Length: %d", len(form)), form)
}
