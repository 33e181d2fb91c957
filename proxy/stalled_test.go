package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"laconic/proxy/operate"
)

// A client that says it will send a body and sends none is answered, and its
// connection is closed, wherever the body would go.
func TestABodyThatNeverComesHoldsNoConnection(t *testing.T) {
	for _, head := range []string{
		"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n",
		"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"model\":",
		"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
		"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n500\r\nhello",
		"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n500\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc",
		"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc",
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVirtual(t, nil)
			conn := v.dial()
			began := time.Now()
			_, _ = io.WriteString(conn, head)
			r := bufio.NewReader(conn)
			res, err := http.ReadResponse(r, nil)
			if err != nil || res.StatusCode != http.StatusRequestTimeout {
				t.Errorf("%q: %v, %+v after %v", head, err, res, time.Since(began))
			}
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Errorf("%q: the connection is open: %v", head, err)
			}
			if i := <-v.all; i.Code != "body_timeout" {
				t.Errorf("%q: %s, not body_timeout", head, i.Code)
			}
		})
	}
}

// Bodies that have stalled when the listener closes are given up; the shutdown does not
// wait for them as long as it may.
func TestStalledBodiesHoldUpNoShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, ended := newEnding(t)
		for _, path := range []string{"chat/completions", "embeddings", "files"} {
			conn := v.dial()
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			_, _ = io.WriteString(conn, "POST /v1/"+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"model\":")
		}
		synctest.Wait()
		v.stop()
		if i := <-ended; i.Cut != 0 || i.Duration > 10*time.Second {
			t.Errorf("%+v", i)
		}
		for range 3 {
			if i := <-v.all; i.Code != "body_timeout" {
				t.Errorf("%s: %s", i.Endpoint, i.Code)
			}
		}
	})
}

// An answer that comes before the end of a body reaches a client that sends no more, and
// its connection is closed.
func TestAnAnswerDoesNotWaitForAStalledBody(t *testing.T) {
	u := newUpstream(t, nil)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.WriteString(w, plainAnswer)
	})
	p := inFrontOf(t, u)
	for _, line := range []string{"GET /v1/models", "POST /v1/files"} {
		conn := dial(t, p.addr) // for 20 seconds; a client in a body may be silent for a minute
		_, _ = io.WriteString(conn, line+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
		r := bufio.NewReader(conn)
		res, err := http.ReadResponse(r, nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %+v", line, err, res)
		} else if text, err := io.ReadAll(res.Body); err != nil || string(text) != plainAnswer {
			t.Errorf("%s: %q, %v", line, text, err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("%s: the connection is open: %v", line, err)
		}
	}
}

// virtualAdmin serves the admin listener of a proxy on a virtual clock, and returns what
// connects to it.
func virtualAdmin(t *testing.T, change ...func(*Options)) (dial func() net.Conn) {
	t.Helper()
	srv := must(newVirtual(t, nil, change...).p.Admin(operate.Options{}))
	l := newPipes()
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return func() net.Conn { return must(l.dial(t.Context(), "", "")) }
}

// Without the token no connection of the admin listener is kept, whatever it asks for.
func TestOnlyTheTokenKeepsAnAdminConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const token = "a-token-of-the-operator-4711"
		dial := virtualAdmin(t, func(o *Options) { o.AdminToken = token })
		for authorization, closes := range map[string]bool{"": true, "Authorization: Bearer wrong\r\n": true, "Authorization: Bearer " + token + "\r\n": false} {
			for _, head := range []string{
				"/healthz HTTP/1.1\r\nHost: localhost", "/readyz?verbose HTTP/1.1\r\nHost: localhost", "/none HTTP/1.1\r\nHost: localhost",
				"/healthz HTTP/1.1\r\nHost: evil.example", "/healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example",
			} {
				conn := dial()
				go func() { _, _ = io.WriteString(conn, "GET "+head+"\r\n"+authorization+"\r\n") }()
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil || res.Close != closes || (res.StatusCode == http.StatusForbidden) != strings.Contains(head, "evil") {
					t.Errorf("%q %q: %v, %+v", head, authorization, err, res)
				}
				_ = conn.Close()
			}
		}
	})
}

// A body that never comes holds no connection of the admin listener either, whose health
// page asks for no token.
func TestABodyThatNeverComesHoldsNoConnectionOfTheAdminListener(t *testing.T) {
	for _, path := range []string{"GET /healthz", "GET /none", "POST /healthz"} {
		synctest.Test(t, func(t *testing.T) {
			conn := virtualAdmin(t)()
			_, _ = io.WriteString(conn, path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			if answer, err := io.ReadAll(conn); err != nil || len(answer) == 0 {
				t.Errorf("%s: the connection is open: %v, %q", path, err, answer)
			}
		})
	}
}
