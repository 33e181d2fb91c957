package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOnLoopbackOnlyLoopbackNamesAndOriginsAreServed(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u, func(o *Options) { o.AllowedOrigins = []string{"https://App.example:8443/"} })
	admin, err := p.Admin(AdminOptions{})
	if err != nil {
		t.Fatal(err)
	}
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
	u := newUpstream(t, nil)
	o := options(u.base(t, "/v1"))
	o.Listen = "0.0.0.0:7280"
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := httptest.NewRequest("GET", "/v1/models", nil)
	r.Host = "llm.company.example"
	r.Header.Set("Origin", "https://chat.company.example")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestTheAdminListener(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u)
	admin, err := p.Admin(AdminOptions{Listen: "127.0.0.1:7281"})
	if err != nil {
		t.Fatal(err)
	}
	f := func(h http.Handler, method, path string, want int, headers ...string) string {
		t.Helper()
		r := httptest.NewRequest(method, path, nil)
		r.Host = "localhost"
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s %s %q: %d, want %d", method, path, headers, w.Code, want)
		}
		b, _ := io.ReadAll(w.Body)
		return string(b)
	}
	f(admin.Handler, "GET", "/healthz", 200)
	f(admin.Handler, "HEAD", "/healthz", 200)
	eventually(t, "Serve", p.started.Load)
	f(admin.Handler, "GET", "/readyz", 200)
	f(admin.Handler, "POST", "/healthz", 405)
	for _, path := range []string{"/", "/metrics", "/v1/models", "/v1/chat/completions", "/debug/pprof/", "/healthz/x"} {
		if b := f(admin.Handler, "GET", path, 404); !strings.Contains(b, `"error"`) {
			t.Errorf("%s: %s", path, b)
		}
	}
	p.stop()
	f(admin.Handler, "GET", "/readyz", 503)
	f(admin.Handler, "GET", "/healthz", 200)

	for _, listen := range []string{":7281", "0.0.0.0:7281", "192.168.1.5:7281"} {
		if _, err := p.Admin(AdminOptions{Listen: listen}); err == nil {
			t.Errorf("%s without a token was accepted", listen)
		}
	}
	p = inFrontOf(t, u, func(o *Options) { o.AdminToken = "admin-token" })
	eventually(t, "Serve", p.started.Load)
	open, err := p.Admin(AdminOptions{Listen: ":7281"})
	if err != nil {
		t.Fatal(err)
	}
	// A probe has no token, and learns no more than a word.
	f(open.Handler, "GET", "/healthz", 200)
	f(open.Handler, "GET", "/readyz", 200)
	f(open.Handler, "POST", "/readyz", 401)
	f(open.Handler, "GET", "/readyz?verbose", 401)
	f(open.Handler, "GET", "/readyz?%76erbose=0&a", 401)
	f(open.Handler, "GET", "/nothing", 401)
	f(open.Handler, "GET", "/readyz?verbose", 401, "Authorization", "Bearer admin-toke")
	f(open.Handler, "GET", "/readyz?verbose", 200, "Authorization", "Bearer admin-token")
}

func TestPagesOfTheAdminListener(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil))
	says := func(s string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) })
	}
	srv, err := p.Admin(AdminOptions{Pages: []AdminPage{
		{Path: "/ui/", Handler: says("all")},
		{Path: "/ui/one", Handler: says("one")},
		{Path: "/change", Methods: []string{http.MethodPost}, Handler: says("changed")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := func(method, path string, status int, want string) {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, nil)
		r.Host = "127.0.0.1"
		srv.Handler.ServeHTTP(w, r)
		if w.Code != status || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s %s: %d %s, want %d %s", method, path, w.Code, w.Body, status, want)
		}
		if status == http.StatusOK && w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s may be kept by a cache", method, path)
		}
	}
	f("GET", "/ui/", 200, "all")
	f("GET", "/ui/else", 200, "all")
	f("GET", "/ui/one", 200, "one")
	f("GET", "/ui", 404, "path_not_served")
	f("POST", "/ui/one", 405, "can only be read")
	f("POST", "/change", 200, "changed")
	f("GET", "/change", 405, "method_not_allowed")
	f("GET", "/healthz", 200, "ok")
	f("GET", "/", 404, "path_not_served")
}
