package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"laconic/proxy/body"
)

// overTLS makes a proxy that speaks TLS, and trust is what believes it.
func overTLS(t testing.TB) (change func(*Options), trust *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	certificate := s.TLS.Certificates[0]
	return func(o *Options) {
		o.Certificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate, nil }
	}, &tls.Config{RootCAs: pool}
}

// h2 is a proxy that speaks TLS and a client of it that speaks HTTP/2.
type h2 struct {
	*running
	client *http.Client
}

func newH2(t testing.TB, o Options) *h2 {
	t.Helper()
	change, trust := overTLS(t)
	change(&o)
	p := start(t, o)
	transport := &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &h2{p, &http.Client{Transport: transport}}
}

// reusing notes whether a request came on a connection of before.
func reusing(ctx context.Context) (_ context.Context, reused *bool) {
	reused = new(bool)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { *reused = i.Reused }}), reused
}

// virtually is a client of a virtual proxy that speaks HTTP/2.
func virtually(t *testing.T, v *virtual, trust *tls.Config) *http.Client {
	trust = trust.Clone()
	trust.InsecureSkipVerify = true // of a clock that is another
	transport := &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true, DialContext: v.in.dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask returns the answer to a request; nil if the client left before.
func (h *h2) ask(ctx context.Context, path string, body io.Reader) *http.Response {
	h.t.Helper()
	req := must(http.NewRequestWithContext(ctx, "POST", h.url+path, body))
	res, err := h.client.Do(req)
	if err != nil && ctx.Err() == nil {
		h.t.Fatal(err)
	}
	if err == nil && res.ProtoMajor != 2 {
		h.t.Fatalf("HTTP/%d", res.ProtoMajor)
	}
	return res
}

// A broken answer is a stream that was reset. Its connection goes on.
func TestHTTP2BrokenStreamLooksBroken(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nd\r\ndata: first\n\n\r\n"
	base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) { _, _ = io.WriteString(conn, answer) })
	p := newH2(t, options(base))
	for n := range 2 {
		ctx, reused := reusing(t.Context())
		res := p.ask(ctx, "/v1/chat/completions", strings.NewReader(chatBody))
		b, err := io.ReadAll(res.Body)
		if err == nil || !strings.Contains(err.Error(), "stream error") || string(b) != "data: first\n\n" || *reused != (n == 1) {
			t.Errorf("%q %v, on a connection of before: %v", b, err, *reused)
		}
		_ = res.Body.Close()
		if r := p.replies(n + 1)[n]; r.Code != "upstream_broke" || r.Status != 200 || r.Done {
			t.Errorf("%+v", r)
		}
	}
}

func TestHTTP2ClientThatLeavesStopsTheUpstream(t *testing.T) {
	for when, first := range map[string]string{"before headers": "", "in the stream": "data: 1\n\n"} {
		for _, path := range []string{"/v1/chat/completions", "/v1/responses"} {
			reply, arrived, stopped := leaving(first)
			p := newH2(t, options(newUpstream(t, reply).base(t, "/v1")))
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				<-arrived
				if first == "" {
					leave()
				}
			}()
			res := p.ask(ctx, path, strings.NewReader(chatBody))
			if first != "" {
				if _, err := io.ReadFull(res.Body, make([]byte, len(first))); err != nil {
					t.Fatal(err)
				}
				leave()
				_ = res.Body.Close()
			}
			<-stopped
			if r := p.replies(1)[0]; r.Status != 499 || r.Code != "client_left" {
				t.Errorf("%s: status %d, code %q", when, r.Status, r.Code)
			}
			leave()
		}
	}
}

// A request that is refused does not end the others of its connection.
func TestHTTP2RefusalLeavesTheConnection(t *testing.T) {
	next := make(chan bool)
	p := newH2(t, func() Options {
		o := options(newUpstream(t, events(2, next)).base(t, "/v1"))
		o.Limits.Body = 1 << 10
		return o
	}())
	open := p.ask(t.Context(), "/v1/chat/completions", strings.NewReader(chatBody))
	for _, refused := range []struct {
		path, body string
		status     int
	}{
		{"/v1/chat/completions", strings.Repeat("x", 3<<20), 413},
		{"/v1/../x", "", 404},
	} {
		for _, known := range []bool{true, false} {
			var body io.Reader = strings.NewReader(refused.body)
			if !known {
				body = io.MultiReader(body)
			}
			ctx, reused := reusing(t.Context())
			res := p.ask(ctx, refused.path, body)
			_ = res.Body.Close()
			if res.StatusCode != refused.status || !*reused {
				t.Errorf("%s: %d, on the connection of before: %v", refused.path, res.StatusCode, *reused)
			}
		}
	}
	close(next)
	if b, err := io.ReadAll(open.Body); err != nil || !strings.HasSuffix(string(b), "data: [DONE]\n\n") {
		t.Errorf("%q %v", b, err)
	}
	_ = open.Body.Close()
}

// An upload goes through as it comes: the upstream answers each part before the
// next is sent.
func TestHTTP2UploadsAndAnswersAtOnce(t *testing.T) {
	u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		in := bufio.NewReader(r.Body)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			piece(w, "got "+line)
		}
	}))
	t.Cleanup(u.Close)
	p := newH2(t, options(parseURL(t, u.URL+"/v1")))
	body, parts := io.Pipe()
	go func() { _, _ = io.WriteString(parts, "0\n") }()
	res := p.ask(t.Context(), "/v1/files", body)
	in := bufio.NewReader(res.Body)
	for i := range 5 {
		if line, err := in.ReadString('\n'); err != nil || line != fmt.Sprintf("got %d\n", i) {
			t.Fatalf("%q %v", line, err)
		}
		if i < 4 {
			_, _ = fmt.Fprintf(parts, "%d\n", i+1)
		}
	}
	_ = parts.Close()
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("%q %v", rest, err)
	}
	_ = res.Body.Close()
}

// On a virtual clock: what paces a client holds for HTTP/2 as for HTTP/1.
func TestHTTP2ClientsArePaced(t *testing.T) {
	f := func(name string, reply http.HandlerFunc, do func(t *testing.T, v *virtual, c *http.Client)) {
		t.Run(name, func(t *testing.T) {
			change, trust := overTLS(t)
			synctest.Test(t, func(t *testing.T) {
				v := newVirtual(t, reply, change)
				do(t, v, virtually(t, v, trust))
			})
		})
	}
	const url = "https://localhost/v1/chat/completions"
	f("a body that drips", nil, func(t *testing.T, v *virtual, c *http.Client) {
		body, drops := io.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 1000 {
				time.Sleep(time.Second)
				if _, err := drops.Write([]byte(" ")); err != nil {
					return
				}
			}
		})
		defer wg.Wait()
		res, err := c.Post(url, "application/json", body)
		_ = drops.CloseWithError(errors.New("over"))
		if err != nil || res.StatusCode != 408 || res.ProtoMajor != 2 {
			t.Errorf("%v %v", res, err)
		} else {
			_ = res.Body.Close()
		}
		holdsNothing(t, v.p)
	})
	f("a client that stops reading", func(w http.ResponseWriter, _ *http.Request) {
		for range 2000 {
			if _, err := w.Write(make([]byte, 10<<10)); err != nil {
				return
			}
		}
	}, func(t *testing.T, v *virtual, c *http.Client) {
		res, err := c.Post(url, "application/json", strings.NewReader(chatBody))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		start := time.Now()
		if r := <-v.all; r.Status != 499 || r.Code != "client_stalled" {
			t.Errorf("%+v", r)
		}
		if d := time.Since(start); d > body.WriteIdle || d < body.WriteIdle*9/10 {
			t.Errorf("after %v", d)
		}
	})
}

// An upload whose upstream takes its time is not cut.
func TestHTTP2UploadWaitsForItsUpstream(t *testing.T) {
	change, trust := overTLS(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, nil, change)
		behind := newPipes()
		v.p.transport.(byScheme)["http"].DialContext = behind.dial
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			conn, err := behind.Accept()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			r, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				return
			}
			time.Sleep(5 * time.Minute)
			n, err := io.Copy(io.Discard, r.Body)
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%d %v", n, err)
		})
		res, err := virtually(t, v, trust).Post("https://localhost/v1/files", "text/plain", strings.NewReader(strings.Repeat("x", 1<<20)))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(res.Body); string(b) != "1048576 <nil>" {
			t.Errorf("%d %q %v", res.StatusCode, b, err)
		}
		_ = res.Body.Close()
	})
}

// An HTTP/1.0 client sees neither chunks nor a length: only a reset tells it of a
// broken answer, also under TLS, where a close_notify would be a good end.
func TestABrokenStreamIsResetForHTTP10(t *testing.T) {
	for _, version := range []string{"1.0", "1.1", "1.0 in the clear"} {
		version, clear, _ := strings.Cut(version, " ")
		base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
		})
		o := options(base)
		change, trust := overTLS(t)
		if clear == "" {
			change(&o)
		}
		p := start(t, o)
		conn := net.Conn(dial(t, p.addr))
		if clear == "" {
			trust := trust.Clone()
			trust.ServerName = "127.0.0.1"
			conn = tls.Client(conn, trust)
		}
		_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/%s\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", version, len(chatBody), chatBody)
		b, err := io.ReadAll(conn)
		if version == "1.0" && err == nil || bytes.HasSuffix(b, []byte("0\r\n\r\n")) {
			t.Errorf("HTTP/%s: a clean end after %q", version, b)
		}
		_ = conn.Close()
	}
}

func TestTLSBelow12IsRefused(t *testing.T) {
	change, trust := overTLS(t)
	_, p := plain(t, change)
	trust.MinVersion, trust.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if conn, err := tls.Dial("tcp", p.addr, trust); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 was taken")
	}
}
