package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"laconic/proxy/access"
)

// A browser that has shown the token sees the pages for browsers, and no others; and
// only a page of the same address changes something.
func TestABrowserIsLetIn(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil), func(o *Options) { o.AdminToken = "admin-token" })
	says := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })
	srv, err := p.Admin(AdminOptions{Listen: ":7281", SignIn: "/in", Pages: []AdminPage{
		{Path: "/ui/", Handler: says, Browser: true},
		{Path: "/in", Handler: says, Open: true},
		{Path: "/change", Methods: []string{http.MethodPost}, Handler: says, Browser: true},
		{Path: "/program", Handler: says},
	}})
	if err != nil {
		t.Fatal(err)
	}
	signed := httptest.NewRecorder()
	now := time.Now()
	if p.SignIn(signed, "admin-toke") || !p.SignIn(signed, "admin-token") {
		t.Fatal("the token")
	}
	if all := p.faults(); len(all) != 1 || all[0].Where != "sign-in" || !all[0].Peer {
		t.Errorf("of a wrong token it was told: %+v", all)
	}
	cookie := signed.Header().Get("Set-Cookie")
	f := func(method, path string, want int, headers ...string) {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, nil)
		r.Host = "proxy.example:7281"
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		srv.Handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s %s %q: %d, want %d", method, path, headers, w.Code, want)
		}
	}
	f("GET", "/ui/", 401)
	f("GET", "/ui/", 303, "Accept", "text/html,*/*")
	f("GET", "/in", 200)
	f("GET", "/ui/", 200, "Cookie", cookie)
	f("GET", "/ui/", 200, "Authorization", "Bearer admin-token")
	f("GET", "/ui/", 401, "Cookie", "laconic_admin=9999999999.00")
	f("GET", "/program", 401, "Cookie", cookie)
	f("GET", "/readyz?verbose", 401, "Cookie", cookie)
	f("POST", "/change", 401)
	f("POST", "/change", 200, "Authorization", "Bearer admin-token")
	f("POST", "/change", 403, "Authorization", "Bearer admin-token", "Origin", "http://other.example")
	f("POST", "/change", 403, "Cookie", cookie)
	f("POST", "/change", 403, "Cookie", cookie, "Origin", "null")
	f("POST", "/change", 403, "Cookie", cookie, "Origin", "http://proxy.example:8080")
	f("POST", "/change", 200, "Cookie", cookie, "Origin", "http://proxy.example:7281")

	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Cookie", cookie)
	if p.sessions.Holds(r, "admin-token", now.Add(13*time.Hour)) || !p.sessions.Holds(r, "admin-token", now.Add(11*time.Hour)) {
		t.Error("a session does not end when it should")
	}
	if access.NewSessions().Holds(r, "admin-token", now) || p.sessions.Holds(r, "another", now) || p.sessions.Holds(r, "", now) {
		t.Error("a session outlives its process, or its token")
	}
}

// Without a token, a page of another port of this machine changes nothing.
func TestAnotherPageOfThisMachineChangesNothing(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil))
	srv, err := p.Admin(AdminOptions{Listen: "127.0.0.1:7281", Pages: []AdminPage{
		{Path: "/change", Methods: []string{http.MethodPost}, Handler: http.NotFoundHandler(), Browser: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for origin, want := range map[string]int{"": 404, "http://127.0.0.1:7281": 404, "http://127.0.0.1:3000": 403, "http://evil.example": 403, "null": 403} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/change", nil)
		r.Host = "127.0.0.1:7281"
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		srv.Handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", origin, w.Code, want)
		}
	}
}
