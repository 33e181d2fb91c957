package operate

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/apierror"
)

// admin is a listener that asks for a token, "" for none.
func admin(listen, token string, pages ...Page) *Admin {
	return &Admin{
		Options: Options{Listen: listen, SignIn: "/in", Pages: pages}, Sessions: access.NewSessions(),
		Access: func() (access.Secret, []string) { return access.Secret(token), nil }, NotReady: func() string { return "" }, Words: func() string { return "words\n" },
	}
}

// ask returns the answer to a request with headers.
func (a *Admin) ask(method, host, path string, headers ...string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	a.ServeHTTP(w, r)
	return w
}

func says(s string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) })
}

// A browser that has shown the token sees the pages for browsers, and no others; and
// only a page of the same address changes something.
func TestABrowserIsLetIn(t *testing.T) {
	a := admin(":7281", "admin-token",
		Page{Path: "/ui/", Handler: says("here"), Browser: true},
		Page{Path: "/in", Handler: says("here"), Open: true},
		Page{Path: "/change", Methods: []string{http.MethodPost}, Handler: says("here"), Browser: true},
		Page{Path: "/program", Handler: says("here")},
	)
	signed, now := httptest.NewRecorder(), time.Now()
	if a.Sessions.Start(signed, "admin-token", "admin-toke", now) || !a.Sessions.Start(signed, "admin-token", "admin-token", now) {
		t.Fatal("the token")
	}
	cookie := signed.Header().Get("Set-Cookie")
	f := func(method, path string, want int, headers ...string) {
		t.Helper()
		if w := a.ask(method, "proxy.example:7281", path, headers...); w.Code != want {
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
	if a.Sessions.Holds(r, "admin-token", now.Add(13*time.Hour)) || !a.Sessions.Holds(r, "admin-token", now.Add(11*time.Hour)) {
		t.Error("a session does not end when it should")
	}
	if access.NewSessions().Holds(r, "admin-token", now) || a.Sessions.Holds(r, "another", now) || a.Sessions.Holds(r, "", now) {
		t.Error("a session outlives its process, or its token")
	}
}

// Without a token, a page of another port of this machine changes nothing, nor does one
// that may call the API, nor one whose name was made to lead here.
func TestAnotherPageOfThisMachineChangesNothing(t *testing.T) {
	a := admin("127.0.0.1:7281", "", Page{Path: "/change", Methods: []string{http.MethodPost}, Handler: http.NotFoundHandler(), Browser: true})
	a.Access = func() (access.Secret, []string) { return "", []string{"https://app.example"} }
	for origin, want := range map[string]int{
		"": 404, "http://127.0.0.1:7281": 404, "http://127.0.0.1:3000": 403, "http://evil.example": 403, "https://app.example": 403, "null": 403,
	} {
		if w := a.ask("POST", "127.0.0.1:7281", "/change", "Origin", origin); w.Code != want {
			t.Errorf("%q: %d, want %d", origin, w.Code, want)
		}
	}
	if w := a.ask("POST", "evil.example", "/change"); w.Code != 403 {
		t.Errorf("of another name: %d", w.Code)
	}
}

// A probe has no token, and learns no more than a word.
func TestPages(t *testing.T) {
	pages := []Page{
		{Path: "/ui/", Handler: says("all")},
		{Path: "/ui/one", Handler: says("one")},
		{Path: "/change", Methods: []string{http.MethodPost}, Handler: says("changed")},
	}
	a := admin("", "", pages...)
	f := func(method, path string, status int, want string, headers ...string) {
		t.Helper()
		w := a.ask(method, "localhost", path, headers...)
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
	f("HEAD", "/healthz", 200, "ok")
	f("POST", "/healthz", 405, "can only be read")
	f("GET", "/readyz?verbose", 200, "ready\nwords\n")
	for _, path := range []string{"/", "/metrics", "/v1/models", "/v1/chat/completions", "/debug/pprof/", "/healthz/x"} {
		f("GET", path, 404, `"error"`)
	}
	a = admin(":7281", "admin-token", pages...)
	a.NotReady = func() string { return "starting" }
	f("GET", "/healthz", 200, "ok")
	f("GET", "/readyz", 503, "starting\n")
	f("POST", "/readyz", 401, "")
	f("GET", "/readyz?verbose", 401, "")
	f("GET", "/readyz?%76erbose=0&a", 401, "")
	f("GET", "/nothing", 401, "")
	f("GET", "/readyz?verbose", 401, "", "Authorization", "Bearer admin-toke")
	f("GET", "/readyz?verbose", 503, "words", "Authorization", "Bearer admin-token")
}

// A proxy that is not ready gets no requests, so that it never sees an upstream
// come back: the time does it.
func TestNotReadyForUpstreamsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &Upstreams{}
		fail := func(origin string) {
			for range downAfter {
				u.Observe(origin, Shown{Code: apierror.CodeUnreachable}, time.Now())
			}
		}
		f := func(want bool) {
			t.Helper()
			if got := u.Down(map[string]bool{"a": true, "b": true}, time.Now()); got != want {
				t.Errorf("down %v", got)
			}
		}
		f(false) // nobody was asked
		fail("a")
		f(true)
		u.Observe("b", Shown{}, time.Now())
		f(false) // the other one answers
		fail("b")
		f(true)
		time.Sleep(downFor + time.Second)
		f(false)
		fail("a")
		f(false)
		fail("b")
		f(true)
		u.Observe("gone", Shown{}, time.Now())
		f(true) // it was answered before it left the configuration
	})
}
