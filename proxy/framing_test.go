package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// post is a raw chat request with more headers.
func post(headers, body string) string {
	return fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s", len(body), headers, body)
}

// CVE-2021-33197: a client must not be able to drop the proxy's own headers.
func TestHopByHopHeadersStayAndOursSurvive(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u)
	answer := raw(t, p.addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"+
		"Connection: close, X-Tenant, Via, X-Laconic-Mode\r\nX-Tenant: a\r\nX-Kept: b\r\nKeep-Alive: 1\r\nTE: trailers\r\n"+
		"Proxy-Authorization: Basic x\r\nProxy-Connection: x\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Host: evil\r\nForwarded: for=x\r\n"+
		"X-Real-Ip: 1.2.3.4\r\nX_Real_Ip: 1.2.3.4\r\nX_Forwarded_Host: evil\r\nTransfer_Encoding: chunked\r\n"+
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(chatBody), chatBody))
	if statusOf(t, answer) != 200 || !strings.Contains(answer, "X-Laconic-Outcome: untouched") {
		t.Errorf("answer %q", answer)
	}
	h := u.only(t).Header
	if !strings.Contains(h.Get("Via"), "laconic-") || h.Get("X-Kept") != "b" {
		t.Errorf("headers %v", h)
	}
	for _, gone := range []string{
		"X-Tenant", "Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Forwarded",
		"X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "X_real_ip", "X_forwarded_host", "Transfer_encoding", "Upgrade",
	} {
		if _, ok := h[gone]; ok {
			t.Errorf("the upstream got %s", gone)
		}
	}
}

// smuggling are requests that two servers could read differently. Each is
// refused, or read in exactly one way: what follows is a request of its own.
var smuggling = []string{
	"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
	"Content-Length: 5, 6\r\n\r\nhello",
	"Content-Length: +5\r\n\r\nhello",
	"Content-Length: -5\r\n\r\nhello",
	"Content-Length: 0x5\r\n\r\nhello",
	"Content-Length: \r\n\r\nhello",
	"Content-Length: 5 5\r\n\r\nhello",
	"Content-Length : 5\r\n\r\nhello",
	" Content-Length: 5\r\n\r\nhello",
	"Content\tLength: 5\r\n\r\nhello",
	"Content-Length: 99999999999999999999\r\n\r\nhello",
	"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
	"X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"X\x00: y\r\nContent-Length: 5\r\n\r\nhello",
	"X: a\x00b\r\nContent-Length: 5\r\n\r\nhello",
	": empty\r\nContent-Length: 5\r\n\r\nhello",
	"Host: other\r\nContent-Length: 5\r\n\r\nhello",
}

func TestAmbiguousFramingIsRefused(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u)
	for _, headers := range smuggling {
		before := len(u.requests())
		answer := raw(t, p.addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"+headers+"GET /v1/smuggled HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if s := statusOf(t, answer); s < 400 {
			t.Errorf("%q: status %d", headers, s)
		}
		for _, got := range u.requests()[before:] {
			if strings.Contains(got.URI, "smuggled") {
				t.Errorf("%q: the tail became a request", headers)
			}
		}
	}
	if n := len(u.requests()); n != 0 {
		t.Errorf("%d requests reached the upstream", n)
	}
}

// RFC 9112 §6.3: Transfer-Encoding wins over Content-Length. The upstream gets
// a framing of ours, and what follows is guarded like any request.
func TestBothFramingsAreReadAsOneAndWhatFollowsIsGuarded(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(chatBody), chatBody)
	raw(t, p.addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"+chunked+
		"CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\nConnection: close\r\n\r\n")
	got := u.only(t)
	if string(got.Body) != chatBody || got.Length != int64(len(chatBody)) || got.Header.Get("Transfer-Encoding") != "" {
		t.Errorf("length %d, %q", got.Length, got.Body)
	}
}

// CVE-2025-22871: a lone LF ends no chunk line.
func TestABrokenBodyIsTheClientsErrorAndNothingIsSent(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u)
	f := func(headers, body string) {
		t.Helper()
		conn := dial(t, p.addr)
		_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"+headers+"\r\n\r\n"+body)
		_ = conn.CloseWrite()
		answer, _ := io.ReadAll(conn)
		if statusOf(t, string(answer)) != 400 || !strings.Contains(string(answer), `"code":"broken_body"`) {
			t.Errorf("%q %q: %q", headers, body, answer)
		}
	}
	f("Transfer-Encoding: chunked", "5\nhello\r\n0\r\n\r\n")
	f("Transfer-Encoding: chunked", "0x5\r\nhello\r\n0\r\n\r\n")
	f("Transfer-Encoding: chunked", "ffffffffffffffffff\r\nhello\r\n0\r\n\r\n")
	f("Transfer-Encoding: chunked", "2\r\nhello\r\n0\r\n\r\n")
	f("Transfer-Encoding: chunked", "5\r\nhello")
	f("Content-Length: 50", "{}")
	if n := len(u.requests()); n != 0 {
		t.Errorf("%d requests reached the upstream", n)
	}
}

func TestABrokenUploadIsTheClientsErrorNotTheUpstreams(t *testing.T) {
	base, _ := rawUpstream(t, func(*net.TCPConn, *http.Request) {})
	p := start(t, options(base))
	answer := raw(t, p.addr, "POST /v1/files HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n")
	if statusOf(t, answer) != 400 {
		t.Errorf("%q", answer)
	}
	if c := p.replies(1)[0].Code; c != "broken_body" {
		t.Errorf("code %q", c)
	}
}

func TestAnUpgradeIsRefusedAndH2COfJavaClientsIgnored(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u)
	answer := raw(t, p.addr, "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n")
	if statusOf(t, answer) != 400 || !strings.Contains(answer, "upgrade_not_served") {
		t.Errorf("%q", answer)
	}
	if n := len(u.requests()); n != 0 {
		t.Fatalf("%d requests reached the upstream", n)
	}
	answer = raw(t, p.addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"+
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(chatBody), chatBody))
	if statusOf(t, answer) != 200 {
		t.Errorf("%q", answer)
	}
	h := u.only(t).Header
	if h.Get("Upgrade") != "" || h.Get("Connection") != "" || h.Get("Http2-Settings") != "" {
		t.Errorf("headers %v", h)
	}
}

func TestAnUpstreamThatSwitchesProtocolsUnaskedGetsNoTunnel(t *testing.T) {
	for _, headers := range []string{"Upgrade: websocket\r\nConnection: Upgrade\r\n", ""} {
		base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n"+headers+"\r\nraw")
		})
		p := start(t, options(base))
		res := p.chat(chatBody)
		if res.StatusCode != 502 || res.code(t) != "upstream_protocol" {
			t.Errorf("%d %s", res.StatusCode, res.body)
		}
	}
}

// CVE-2024-24791: Expect must not reach an upstream that does not answer it.
func TestExpectCostsNothingAndStaysHere(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u)
	conn := dial(t, p.addr)
	_, _ = io.WriteString(conn, fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(chatBody)))
	in := bufio.NewReader(conn)
	if line, _ := in.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("%q", line)
	}
	_, _ = io.WriteString(conn, chatBody)
	rest, _ := io.ReadAll(in)
	if !strings.Contains(string(rest), "HTTP/1.1 200") {
		t.Errorf("%q", rest)
	}
	if h := u.only(t).Header; h.Get("Expect") != "" {
		t.Errorf("headers %v", h)
	}
	if s := statusOf(t, raw(t, p.addr, post("Expect: x\r\n", chatBody))); s != 417 {
		t.Errorf("unknown Expect: %d", s)
	}
}

func TestAnHTTP10ClientGetsItsEventsAsTheyCome(t *testing.T) {
	next := make(chan bool)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			<-next
		}
	})
	p := inFrontOf(t, u)
	conn := dial(t, p.addr)
	_, _ = io.WriteString(conn, fmt.Sprintf("POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(chatBody), chatBody))
	in := bufio.NewReader(conn)
	for i := range 3 {
		want := fmt.Sprintf("data: %d\n", i)
		for line := ""; line != want; {
			var err error
			if line, err = in.ReadString('\n'); err != nil || strings.HasPrefix(line, "Transfer-Encoding") {
				t.Fatalf("%q %v", line, err)
			}
		}
		next <- true
	}
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "\n" {
		t.Errorf("%q %v", rest, err)
	}
}

func TestABodyWithoutLengthGetsOne(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, plainAnswer)
		w.Header().Set("X-Sum", "42")
	})
	p := inFrontOf(t, u)
	big := agentBody(3, 30_000) // more than the first buffer
	for _, body := range []string{chatBody, big} {
		conn := dial(t, p.addr)
		_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTrailer: X-In\r\nTransfer-Encoding: chunked\r\nX-Laconic-Budget: 1000000\r\n\r\n"+
			fmt.Sprintf("%x\r\n%s\r\n0\r\nX-In: 1\r\n\r\n", len(body), body))
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if res.Trailer.Get("X-Sum") != "42" {
			t.Errorf("answer's trailers: %v", res.Trailer)
		}
		all := u.requests()
		got := all[len(all)-1]
		if string(got.Body) != body || got.Length != int64(len(body)) || got.Header.Get("Trailer") != "" {
			t.Errorf("length %d, %d bytes, %v", got.Length, len(got.Body), got.Header)
		}
	}
}

func TestTooManyHeadersAreRefusedAndOthersServed(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u)
	if s := statusOf(t, raw(t, p.addr, post("X: "+strings.Repeat("x", 80<<10)+"\r\n", chatBody))); s != 431 {
		t.Errorf("80 KB of one header: %d", s)
	}
	if s := statusOf(t, raw(t, p.addr, post(strings.Repeat("X: y\r\n", 15_000), chatBody))); s != 431 {
		t.Errorf("15,000 headers: %d", s)
	}
	if res := p.chat(chatBody); res.StatusCode != 200 {
		t.Errorf("afterwards: %d", res.StatusCode)
	}
}

func TestSlowHeadersAreCutAndOthersServed(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u, func(o *Options) { o.Limits.Header = 300 * time.Millisecond })
	var conns []net.Conn
	for range 50 {
		conn := dial(t, p.addr)
		_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: loc")
		conns = append(conns, conn)
	}
	if res := p.chat(chatBody); res.StatusCode != 200 {
		t.Errorf("meanwhile: %d", res.StatusCode)
	}
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() {
			if _, err := io.ReadAll(c); err != nil { // until the server closes it
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// On a virtual clock: a body that drips is cut at its deadline, one that is
// merely slow is not.
func TestABodyMustArrive(t *testing.T) {
	f := func(name string, pause time.Duration, chunk, chunks, want int) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVirtual(t, nil)
				body := bytes.Repeat([]byte(" "), chunk*chunks-len(chatBody))
				body = append([]byte(chatBody), body...)
				conn := v.dial()
				var wg sync.WaitGroup
				defer wg.Wait()
				defer func() { _ = conn.Close() }()
				wg.Go(func() {
					_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", len(body))
					for i := range chunks {
						time.Sleep(pause)
						if _, err := conn.Write(body[i*chunk : (i+1)*chunk]); err != nil {
							return
						}
					}
				})
				answer, _ := io.ReadAll(conn)
				if got := statusOf(t, string(answer)); got != want {
					t.Errorf("status %d, want %d: %s", got, want, answer)
				}
				if n := v.p.memory.taken(); n != 0 {
					t.Errorf("%d bytes of memory are still held", n)
				}
			})
		})
	}
	f("a byte each second", time.Second, 1, 1000, 408)
	f("fast after a long start", 25*time.Second, len(chatBody), 1, 200)
	f("slow but steady", time.Second, 40<<10, 100, 200)
}

func TestAnswersAndAcceptEncodingAreNotTouched(t *testing.T) {
	packed := gzipped(t, []byte(plainAnswer))
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Accept-Encoding") != "" {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed)
			return
		}
		_, _ = io.WriteString(w, plainAnswer)
	})
	p := inFrontOf(t, u)
	for _, accept := range []string{"", "gzip", "gzip, br;q=0.5, zstd"} {
		header := ""
		if accept != "" {
			header = "Accept-Encoding: " + accept + "\r\n"
		}
		res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(raw(t, p.addr, post(header, chatBody)))), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		want := []byte(plainAnswer)
		if accept != "" {
			want = packed
		}
		if !bytes.Equal(body, want) {
			t.Errorf("%q: other bytes", accept)
		}
		all := u.requests()
		if got, ok := all[len(all)-1].Header["Accept-Encoding"]; ok != (accept != "") || strings.Join(got, "") != accept {
			t.Errorf("the upstream saw Accept-Encoding %q, want %q", got, accept)
		}
	}
	for i, r := range p.replies(3) {
		if r.Usage == nil || *r.Usage != (Usage{Prompt: 11, Completion: 2, Cached: 7}) {
			t.Errorf("answer %d: usage %+v", i, r.Usage)
		}
	}
}
