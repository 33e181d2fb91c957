package proxy

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"laconic/proxy/operate"
)

func TestOnLoopbackOnlyLoopbackNamesAndOriginsAreServed(t *testing.T) {
	_, p := plain(t, func(o *Options) { o.AllowedOrigins = []string{"https://App.example:8443/"} })
	admin := must(p.Admin(operate.Options{}))
	f := func(host, origin string, want int) {
		t.Helper()
		headers := "Host: " + host + "\r\n"
		if origin != "" {
			headers += "Origin: " + origin + "\r\n"
		}
		answer := raw(t, p.addr, "GET /v1/models HTTP/1.1\r\n"+headers+"Connection: close\r\n\r\n")
		if got := statusOf(t, answer); got != want {
			t.Errorf("Host %q, Origin %q: %d, want %d", host, origin, got, want)
		}
		r := httptest.NewRequest("GET", "/healthz", nil)
		r.Host = host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		admin.Handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("admin: Host %q, Origin %q: %d, want %d", host, origin, w.Code, want)
		}
	}
	for _, host := range []string{
		"localhost", "LOCALHOST:7280", "localhost.", "app.localhost:1", "127.0.0.1", "127.0.0.1:9999", "127.8.8.8", "[::1]:7280", "[::1]", "[::ffff:127.0.0.1]:1", "app.example:8443",
	} {
		f(host, "", 200)
	}
	for _, host := range []string{
		"evil.example", "evil.example:7280", "localhost.evil.example", "127.0.0.1.evil.example", "0.0.0.0", "[::]:7280", "192.168.1.1", "10.0.0.1:7280", "notlocalhost", "app.example",
	} {
		f(host, "", 403)
	}
	for _, origin := range []string{"http://localhost:3000", "https://127.0.0.1", "http://[::1]:3000", "https://app.example:8443", "HTTPS://APP.example:8443"} {
		f("localhost", origin, 200)
	}
	for _, origin := range []string{"null", "https://evil.example", "http://localhost.evil.example", "file://", "chrome-extension://localhost", "https://app.example", "http://app.example:8443", "x"} {
		f("localhost", origin, 403)
	}
	answer := raw(t, p.addr, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example\r\nConnection: close\r\n\r\n")
	if statusOf(t, answer) != 403 {
		t.Errorf("two origins: %q", answer)
	}
}

func TestElsewhereAnyNameIsServed(t *testing.T) {
	_, p := plain(t, func(o *Options) { o.Listen = "0.0.0.0:7280" })
	answer := raw(t, p.addr, "GET /v1/models HTTP/1.1\r\nHost: llm.company.example\r\nOrigin: https://chat.company.example\r\nConnection: close\r\n\r\n")
	if statusOf(t, answer) != 200 {
		t.Errorf("%q", answer)
	}
}

// TestTokensCannotBeTried: after some wrong ones an address has to wait, even with the
// right one, and another has not.
func TestTokensCannotBeTried(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil), func(o *Options) { o.AdminToken = "admin-token" })
	in := func(address, token string) bool {
		r := httptest.NewRequest("POST", "/in", nil)
		r.RemoteAddr = address
		return p.SignIn(httptest.NewRecorder(), r, token)
	}
	for range signIns {
		in("192.0.2.1:1000", "guess")
	}
	if in("192.0.2.1:2000", "admin-token") || !in("192.0.2.2:1000", "admin-token") {
		t.Error("tokens can be tried, or nobody is let in")
	}
	// A program that tries them at a page is told of as often, and its address may still sign in.
	admin := must(p.Admin(operate.Options{Pages: []operate.Page{{Path: "/metrics", Handler: http.NotFoundHandler()}}}))
	for range 2 * signIns {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Host, r.RemoteAddr = "localhost", "192.0.2.3:1000"
		r.Header.Set("Authorization", "Bearer guess")
		w := httptest.NewRecorder()
		if admin.Handler.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			t.Errorf("a guess: %d", w.Code)
		}
	}
	if !in("192.0.2.3:1000", "admin-token") {
		t.Error("a program with a wrong token keeps a browser out")
	}
	if all := p.faults(); len(all) != 2*signIns+1 || all[0].What == all[signIns].What || all[2*signIns].Where != "admin" {
		t.Errorf("it was told: %+v", all)
	}
}
