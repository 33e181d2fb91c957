package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"laconic/proxy/body"
)

// events answers with n events: the first at once, because headers wait for it,
// then one for each value of next.
func events(n int, next <-chan bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for i := range n {
			if i > 0 {
				select {
				case <-next:
				case <-r.Context().Done():
					return
				}
			}
			piece(w, fmt.Sprintf("data: {\"n\":%d}\n\n", i))
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// TestAnEventIsForwardedWhenItArrives, and so is a byte of an answer whose length is
// known, which is mostly sent in one piece.
func TestAnEventIsForwardedWhenItArrives(t *testing.T) {
	next := make(chan bool)
	f := func(path string, reply http.HandlerFunc, piece, rest string) {
		t.Helper()
		p := inFrontOf(t, newUpstream(t, reply))
		res, err := client.Post(p.url+path, "application/json", strings.NewReader(chatBody))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		for i := range 20 {
			if i > 0 {
				next <- true // the upstream says nothing more until the piece before was read here
			}
			want := strings.Replace(piece, "N", fmt.Sprint(i), 1)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
				t.Fatalf("%s, piece %d: %q %v", path, i, got, err)
			}
		}
		if got, err := io.ReadAll(res.Body); err != nil || string(got) != rest {
			t.Errorf("%s: %q %v", path, got, err)
		}
		stream := rest != ""
		if r := p.replies(1)[0]; r.Streamed != stream || stream && r.Wire != "" && !r.Done || r.Code != "" || r.Status != 200 {
			t.Errorf("%s: %+v", path, r)
		}
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/responses"} {
		f(path, events(20, next), "data: {\"n\":N}\n\n", "data: [DONE]\n\n")
		f(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "20")
			for i := range 20 {
				if i > 0 {
					<-next
				}
				piece(w, " ")
			}
		}, " ", "")
	}
}

// longBody is a request above a quarter of its budget: an answer to it is waited
// for.
var longBody = agentBody(5, 100)

func TestAStreamCutAtAnyByteArrivesUnchanged(t *testing.T) {
	text := ": OPENROUTER PROCESSING\r\n\r\nevent: x\r\ndata: {\"a\":\"häß €😀\"}\r\n\r\ndata:no space\n\n\n\ndata: {\"error\":{\"message\":\"x\"}}\n\n\x00\xff"
	for step := range 10 {
		body, step := chatBody, step+1
		if step > 5 {
			body, step = longBody, step-5
		}
		p := inFrontOf(t, newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			for b := []byte(text); len(b) > 0; b = b[min(step, len(b)):] {
				piece(w, string(b[:min(step, len(b))]))
			}
		}))
		res := p.chat(body)
		if res.err != nil || sha256.Sum256(res.body) != sha256.Sum256([]byte(text)) {
			t.Errorf("in steps of %d: %q %v", step, res.body, res.err)
		}
	}
}

// leaving is an upstream that never answers, or never ends its answer, and
// tells when it was told to stop.
func leaving(first string) (http.HandlerFunc, chan bool, chan bool) {
	arrived, stopped := make(chan bool, 100), make(chan bool, 100)
	return func(w http.ResponseWriter, r *http.Request) {
		if first != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			piece(w, first)
		}
		arrived <- true
		<-r.Context().Done()
		stopped <- true
	}, arrived, stopped
}

func TestAClientThatLeavesStopsTheUpstream(t *testing.T) {
	leave := map[string]func(*net.TCPConn){
		"FIN":        func(c *net.TCPConn) { _ = c.Close() },
		"RST":        func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
		"half-close": func(c *net.TCPConn) { _ = c.CloseWrite() },
	}
	for when, first := range map[string]string{"before headers": "", "in the stream": "data: 1\n\n"} {
		for how, f := range leave {
			for _, body := range []string{chatBody, `{"stream":true,` + chatBody[1:]} {
				t.Run(when+" "+how, func(t *testing.T) {
					reply, arrived, stopped := leaving(first)
					p := inFrontOf(t, newUpstream(t, reply))
					conn := dial(t, p.addr)
					_, _ = io.WriteString(conn, strings.Replace(post("", body), "Connection: close\r\n", "", 1))
					<-arrived
					if first != "" {
						until(t, bufio.NewReader(conn), "data: 1\n")
					}
					f(conn)
					select {
					case <-stopped:
					case <-time.After(5 * time.Second):
						t.Fatal("the upstream was not told within 5 s")
					}
					if r := p.replies(1)[0]; r.Status != 499 || r.Code != "client_left" {
						t.Errorf("status %d, code %q", r.Status, r.Code)
					}
					if how == "half-close" { // it still reads: it must not be told a good end
						rest, _ := io.ReadAll(conn)
						if strings.Contains(string(rest), "200 OK") || strings.HasSuffix(string(rest), "0\r\n\r\n") {
							t.Errorf("a clean end: %q", rest)
						}
					}
				})
			}
		}
	}
}

func TestABrokenStreamLooksBroken(t *testing.T) {
	const chunk = "d\r\ndata: first\n\n\r\n"
	f := func(name, answer string, end func(*net.TCPConn)) {
		t.Run(name, func(t *testing.T) {
			base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
				_, _ = io.WriteString(conn, answer)
				end(conn)
			})
			p := start(t, options(base))
			answer := raw(t, p.addr, post("", chatBody))
			if !strings.Contains(answer, "200 OK") || strings.HasSuffix(answer, "0\r\n\r\n") || strings.Contains(answer, "[DONE]") {
				t.Errorf("raw: %q", answer)
			}
			res := p.chat(chatBody)
			if res.err == nil {
				t.Errorf("the client saw a clean end: %q", res.body)
			}
			if r := p.replies(2)[1]; r.Code != "upstream_broke" || r.Status != 200 || r.Done {
				t.Errorf("%+v", r)
			}
		})
	}
	fin := func(c *net.TCPConn) { _ = c.Close() }
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	f("FIN between chunks", head+"Transfer-Encoding: chunked\r\n\r\n"+chunk, fin)
	f("FIN inside a chunk", head+"Transfer-Encoding: chunked\r\n\r\n"+chunk+"ff\r\ndata: sec", fin)
	f("broken chunk", head+"Transfer-Encoding: chunked\r\n\r\n"+chunk+"zz\r\n", fin)
	f("short length", head+"Content-Length: 1000\r\n\r\ndata: first\n\n", fin)
	// RST: a reset loses what the other side had not read, so the head goes
	// through first.
	t.Run("RST", func(t *testing.T) {
		read := make(chan bool)
		base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
			_, _ = io.WriteString(conn, head+"Transfer-Encoding: chunked\r\n\r\n"+chunk)
			<-read
			_ = conn.SetLinger(0)
			_ = conn.Close()
		})
		p := start(t, options(base))
		conn := dial(t, p.addr)
		_, _ = io.WriteString(conn, post("", chatBody))
		in := bufio.NewReader(conn)
		until(t, in, "data: first\n")
		close(read)
		rest, _ := io.ReadAll(in)
		if strings.HasSuffix(string(rest), "0\r\n\r\n") {
			t.Errorf("a clean end: %q", rest)
		}
	})
}

// On a virtual clock, the waits and their ends.

// headFirst sends the headers and a byte a second before the rest. ReverseProxy
// flushes headers in a goroutine of its own, under a mutex; while a goroutine
// waits for that, the virtual clock stands still.
func headFirst(w http.ResponseWriter) {
	piece(w, "x")
	time.Sleep(time.Second)
}

// readHead reads an answer up to its first byte.
func readHead(conn net.Conn) {
	b := make([]byte, 1)
	for head := ""; !strings.HasSuffix(head, "\r\nx\r\n"); head += string(b) {
		if _, err := conn.Read(b); err != nil {
			return
		}
	}
}

func TestAnUpstreamThatNeverAnswersIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan bool, 1)
		v := newVirtual(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done(); stopped <- true })
		start := time.Now()
		answer := v.raw(post("", chatBody))
		if statusOf(t, answer) != 504 || !strings.Contains(answer, "upstream_timeout") || !strings.Contains(answer, "X-Should-Retry: false") {
			t.Errorf("%s", answer)
		}
		if d := time.Since(start); d != 15*time.Minute {
			t.Errorf("after %v", d)
		}
		<-stopped
	})
}

func TestAnUpstreamThatTakesNoBodyIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, nil, func(o *Options) { o.Limits.ResponseHeader = time.Minute })
		behind := newPipes()
		v.p.transport.(byScheme)["http"].DialContext = behind.dial
		go func() {
			c, _ := behind.Accept() // and reads nothing
			time.Sleep(time.Hour)
			_ = c.Close()
		}()
		if answer := v.raw(post("", agentBody(10, 5000))); statusOf(t, answer) != 504 || strings.Contains(answer, "X-Should-Retry") {
			t.Errorf("%s", answer)
		}
		time.Sleep(2 * time.Hour)
	})
}

// Servers that people run close what is idle for five seconds: a connection is not used again that may just be closing.
func TestAnIdleConnectionWithoutTLSIsNotKeptForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, dials := newVirtual(t, nil), 0
		behind := v.p.transport.(byScheme)["http"].DialContext
		v.p.transport.(byScheme)["http"].DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return behind(ctx, network, address)
		}
		for _, pause := range []time.Duration{0, 3 * time.Second, 4900 * time.Millisecond} {
			time.Sleep(pause)
			if answer := v.raw(post("", chatBody)); statusOf(t, answer) != 200 {
				t.Errorf("%s", answer)
			}
		}
		if dials != 2 {
			t.Errorf("%d connections for three requests", dials)
		}
	})
}

func TestSilenceInsideAnAnswerBreaksIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reply, _, _ := leaving("data: 1\n\n")
		v := newVirtual(t, reply)
		start := time.Now()
		answer := v.raw(post("", chatBody))
		if !strings.Contains(answer, "data: 1") || strings.HasSuffix(answer, "0\r\n\r\n") {
			t.Errorf("%q", answer)
		}
		if d := time.Since(start); d != 10*time.Minute {
			t.Errorf("after %v", d)
		}
		if r := <-v.all; r.Code != "upstream_silent" {
			t.Errorf("%+v", r)
		}
	})
}

func TestALongStreamWithPausesIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 30
		v := newVirtual(t, func(w http.ResponseWriter, _ *http.Request) {
			for i := range n {
				time.Sleep(9 * time.Minute)
				piece(w, fmt.Sprintf("data: %d\n\n", i))
			}
		})
		answer := v.raw(post("", chatBody))
		if strings.Count(answer, "data: ") != n || !strings.HasSuffix(answer, "0\r\n\r\n") {
			t.Errorf("%q", answer)
		}
		if r := <-v.all; r.Code != "" || r.Duration != n*9*time.Minute {
			t.Errorf("%+v", r)
		}
	})
}

func TestAClientThatStopsReadingIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int64
		v := newVirtual(t, func(w http.ResponseWriter, _ *http.Request) {
			headFirst(w)
			for range 1000 {
				n, err := w.Write(make([]byte, 10<<10))
				written.Add(int64(n))
				if err != nil {
					return
				}
			}
		})
		conn := v.dial()
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, post("", chatBody))
		readHead(conn)
		time.Sleep(time.Second)
		start := time.Now()
		r := <-v.all
		if r.Status != 499 || r.Code != "client_stalled" {
			t.Errorf("%+v", r)
		}
		if d := time.Since(start); d > body.WriteIdle || d < body.WriteIdle*9/10 {
			t.Errorf("after %v", d)
		}
		if n := written.Load(); n > 1<<20 {
			t.Errorf("the upstream sent %d bytes that nobody reads", n)
		}
	})
}

func TestASlowReaderIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(w http.ResponseWriter, _ *http.Request) {
			headFirst(w)
			_, _ = w.Write(bytes.Repeat([]byte("x"), 200<<10-1))
		}, func(o *Options) { o.Limits.StreamIdle = time.Minute })
		conn := v.dial()
		_, _ = io.WriteString(conn, post("", chatBody))
		readHead(conn)
		got := 0
		for buf := make([]byte, 4<<10); ; time.Sleep(10 * time.Second) {
			n, err := conn.Read(buf)
			got += n
			if err != nil {
				break
			}
		}
		if r := <-v.all; r.Code != "" || r.Bytes != 200<<10 {
			t.Errorf("%+v, %d bytes arrived", r, got)
		}
	})
}
