package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
	u, p := plain(t)
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

// framings are requests that net/http reads although another server might read
// them in another way. Whatever came in, the upstream gets the body that
// was read, under exactly one framing: a length of ours.
var framings = []struct{ name, head, body string }{
	{"a length", "Content-Length: LENGTH", "BODY"},
	{"the same length twice", "Content-Length: LENGTH\r\nContent-Length: LENGTH", "BODY"},
	{"the same length twice, in other cases", "content-length: LENGTH\r\nCONTENT-LENGTH: LENGTH", "BODY"},
	{"a length with blanks", "Content-Length:  \t LENGTH  ", "BODY"},
	{"a length with zeros", "Content-Length: 000LENGTH", "BODY"},
	{"chunks", "Transfer-Encoding: chunked", "SIZE\r\nBODY\r\n0\r\n\r\n"},
	{"chunks in another case", "TRANSFER-ENCODING: Chunked", "SIZE\r\nBODY\r\n0\r\n\r\n"},
	{"chunks with blanks", "Transfer-Encoding:   chunked  ", "SIZE\r\nBODY\r\n0\r\n\r\n"},
	{"chunks and a length", "Content-Length: 4\r\nTransfer-Encoding: chunked", "SIZE\r\nBODY\r\n0\r\n\r\n"},
	{"a length behind chunks", "Transfer-Encoding: chunked\r\nContent-Length: 4", "SIZE\r\nBODY\r\n0\r\n\r\n"},
	{"a chunk extension", "Transfer-Encoding: chunked", "SIZE;name=value;other=\"quoted\"\r\nBODY\r\n0;last\r\n\r\n"},
	{"a chunk size with zeros and capitals", "Transfer-Encoding: chunked", "000BIG\r\nBODY\r\n000\r\n\r\n"},
	{"trailers that are framings", "Transfer-Encoding: chunked\r\nTrailer: X-Sum", "SIZE\r\nBODY\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
	{"a folded header", "X-Folded: a\r\n b\r\nContent-Length: LENGTH", "BODY"},
	{"a framing in a folded header", "X-Folded: a\r\n Transfer-Encoding: chunked\r\nContent-Length: LENGTH", "BODY"},
	{"a bare LF behind a header", "X-Bare: a\nContent-Length: LENGTH", "BODY"},
	{"a bare LF behind the head", "Content-Length: LENGTH\n", "BODY"},
	{"names that look like it", "Content_Length: 5\r\nTransfer_Encoding: chunked\r\nX-Content-Length: 5\r\nContent-Length: LENGTH", "BODY"},
	{"a named length", "Connection: Content-Length\r\nContent-Length: LENGTH", "BODY"},
}

func TestWhateverCameInOneFramingGoesUpstream(t *testing.T) {
	for _, path := range []string{"/v1/chat/completions", "/v1/responses"} {
		for _, f := range framings {
			t.Run(path+" "+f.name, func(t *testing.T) {
				heads := make(chan string, 2)
				base := wireUpstream(t, heads)
				p := start(t, options(base))
				fill := strings.NewReplacer("LENGTH", fmt.Sprint(len(chatBody)), "SIZE", fmt.Sprintf("%x", len(chatBody)), "BIG", fmt.Sprintf("%X", len(chatBody)), "BODY", chatBody)
				head, end := fill.Replace(f.head), "\r\n\r\n"
				if strings.HasSuffix(head, "\n") {
					end = "\n" // the empty line, bare
				}
				// A guarded request follows: its answer shows that the first ended
				// where it was read to end.
				answer := raw(t, p.addr, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\n"+head+end+fill.Replace(f.body)+
					"CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\nConnection: close\r\n\r\n")
				if statusOf(t, answer) != 200 {
					t.Fatalf("%q", answer)
				}
				got := <-heads
				head, body, _ := strings.Cut(got, "\r\n\r\n")
				lengths, chunks := 0, 0
				for line := range strings.SplitSeq(strings.ToLower(head), "\r\n") {
					if strings.ContainsAny(line, "\r\n") {
						t.Errorf("a bare line end went upstream in %q", line)
					}
					name, value, _ := strings.Cut(line, ":")
					switch strings.ReplaceAll(name, "_", "-") {
					case "content-length":
						lengths++
						if value != fmt.Sprintf(" %d", len(chatBody)) {
							t.Errorf("%q", line)
						}
					case "transfer-encoding":
						chunks++
					case "trailer":
						t.Errorf("%q", line)
					}
				}
				want := chatBody
				if chunks == 1 {
					want = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(chatBody), chatBody)
				}
				if lengths+chunks != 1 || body != want {
					t.Errorf("%d lengths and %d codings went upstream: %q", lengths, chunks, got)
				}
				select {
				case more := <-heads:
					t.Errorf("a second request went upstream: %q", more)
				default:
				}
			})
		}
	}
}

// wireUpstream tells what its connections send, to the byte.
func wireUpstream(t *testing.T, requests chan<- string) *url.URL {
	t.Helper()
	return rawListener(t, func(conn *net.TCPConn) {
		var seen bytes.Buffer
		r, err := http.ReadRequest(bufio.NewReaderSize(io.TeeReader(conn, &seen), 1))
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(plainAnswer), plainAnswer)
		_, _ = io.Copy(io.Discard, io.TeeReader(conn, &seen)) // what else it sends
		requests <- seen.String()
	})
}

// CVE-2025-22871: a lone LF ends no chunk line.
func TestABrokenBodyIsTheClientsErrorAndNothingIsSent(t *testing.T) {
	u, p := plain(t)
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
	u.saw(t, 0)
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
	u, p := plain(t)
	upgrade := func(target, host, to string) string {
		return raw(t, p.addr, target+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: Upgrade\r\nUpgrade: "+to+"\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n")
	}
	for _, target := range []string{"GET /v1/realtime", "GET /v1/responses", "GET /v1/chat/completions", "GET /", "POST /v1/responses", "GET /v1/models/gpt-4o"} {
		for _, to := range []string{"websocket", "WebSocket", "h2c, websocket", "TLS/1.0", ""} {
			answer := upgrade(target, "localhost", to)
			res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
			if err != nil || res.StatusCode != 426 || res.Header.Get("Upgrade") != "HTTP/1.1" || !strings.Contains(answer, "\r\nConnection: Upgrade\r\n") ||
				!strings.Contains(answer, `"code":"upgrade_not_served"`) {
				t.Errorf("%s, %q: %v %q", target, to, err, answer)
			}
		}
	}
	if answer := upgrade("GET /v1/responses", "evil.example\r\nConnection: close", "websocket"); statusOf(t, answer) != 403 {
		t.Errorf("a foreign Host: %q", answer)
	}
	u.saw(t, 0)
	answer := raw(t, p.addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"+
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(chatBody), chatBody))
	if statusOf(t, answer) != 200 {
		t.Errorf("%q", answer)
	}
	h := u.only(t).Header
	if h.Get("Upgrade") != "" || h.Get("Connection") != "" || h.Get("Http2-Settings") != "" {
		t.Errorf("headers %v", h)
	}
}

// CVE-2024-24791: Expect must not reach an upstream that does not answer it.
func TestExpectCostsNothingAndStaysHere(t *testing.T) {
	u, p := plain(t)
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
	p := inFrontOf(t, newUpstream(t, events(4, next)))
	conn := dial(t, p.addr)
	_, _ = io.WriteString(conn, fmt.Sprintf("POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(chatBody), chatBody))
	in := bufio.NewReader(conn)
	for i := range 3 {
		if read := until(t, in, fmt.Sprintf("data: {\"n\":%d}\n", i)); strings.Contains(read, "Transfer-Encoding") {
			t.Fatal(read)
		}
		next <- true
	}
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "\ndata: {\"n\":3}\n\ndata: [DONE]\n\n" {
		t.Errorf("%q %v", rest, err)
	}
}

// An upstream's trailers pass; those that would be taken for ours do not, whether they
// were announced or not.
func TestTrailersPass(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum, X-Laconic-Outcome")
		_, _ = io.WriteString(w, plainAnswer)
		w.Header().Set("X-Sum", "42")
		w.Header().Set("X-Laconic-Outcome", "rejected")
		w.Header().Set(http.TrailerPrefix+"X-Laconic-Why", "no reason")
	}))
	_, behind, _ := strings.Cut(raw(t, p.addr, post("Connection: close\r\nTE: trailers\r\n", chatBody)), "\r\n\r\n")
	if !strings.Contains(behind, "X-Sum: 42") || strings.Contains(behind, "X-Laconic-") {
		t.Errorf("behind the headers:\n%s", behind)
	}
}

func TestTooManyHeadersAreRefusedAndOthersServed(t *testing.T) {
	_, p := plain(t)
	if s := statusOf(t, raw(t, p.addr, post("X: "+strings.Repeat("x", 80<<10)+"\r\n", chatBody))); s != 431 {
		t.Errorf("80 KB of one header: %d", s)
	}
	if s := statusOf(t, raw(t, p.addr, post(strings.Repeat("X: y\r\n", 15_000), chatBody))); s != 431 {
		t.Errorf("15,000 headers: %d", s)
	}
	p.chat(chatBody).want(t, 200, "afterwards")
}

func TestSlowHeadersAreCutAndOthersServed(t *testing.T) {
	_, p := plain(t, func(o *Options) { o.Limits.Header = 300 * time.Millisecond })
	var conns []net.Conn
	for range 50 {
		conn := dial(t, p.addr)
		_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: loc")
		conns = append(conns, conn)
	}
	p.chat(chatBody).want(t, 200, "meanwhile")
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
				holdsNothing(t, v.p)
			})
		})
	}
	f("a byte each second", time.Second, 1, 1000, 408)
	f("fast after a long start", 25*time.Second, len(chatBody), 1, 200)
	f("slow but steady", time.Second, 40<<10, 100, 200)
}
