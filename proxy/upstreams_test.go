package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"

	"laconic/compact"

	"laconic/e2e/rig"
	"laconic/proxy/operate"
)

// adminPage reads pages of the admin listener of a proxy.
func adminPage(t testing.TB, p *Proxy, o operate.Options) func(path string) (int, string) {
	t.Helper()
	srv := must(p.Admin(o))
	return func(path string) (int, string) {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		srv.Handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
}

func TestReadyOnlyBetweenStartAndEnd(t *testing.T) {
	o := options(parseURL(t, "http://127.0.0.1:1/v1"))
	p := must(New(o))
	f := func(page func(string) (int, string), status int, want string) {
		t.Helper()
		if got, text := page("/readyz"); got != status || text != want {
			t.Errorf("%d %q, want %d %q", got, text, status, want)
		}
	}
	page := adminPage(t, p, operate.Options{})
	f(page, 503, "starting\n")
	if status, text := page("/readyz?verbose"); status != 503 || !strings.HasPrefix(text, "starting\nupstreams: 0\n") {
		t.Errorf("%d %s", status, text)
	}
	p.Close()

	r := start(t, o)
	page = adminPage(t, r.Proxy, operate.Options{})
	rig.Eventually(t, "Serve", r.started.Load)
	f(page, 200, "ready\n")
	r.stop()
	f(page, 503, "shutting down\n")
}

func TestTheStateOfAnUpstreamIsWhatRequestsShow(t *testing.T) {
	var log logged
	var status atomic.Int32
	status.Store(200)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if status.Load() == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(int(status.Load()))
		_, _ = io.WriteString(w, plainAnswer)
	})
	n := 0
	p := inFrontOf(t, u, func(o *Options) {
		o.Listener = LogTo(log.at(zap.WarnLevel))
		o.UpstreamReadiness = true
		o.Default.Upstream = parseURL(t, u.URL+"/v1?key=canary")
	})
	page := adminPage(t, p.Proxy, operate.Options{})
	rig.Eventually(t, "Serve", p.started.Load)
	ask := func(answer int) {
		status.Store(int32(answer))
		p.chat(chatBody)
		n++
		p.replies(n)
	}
	f := func(ready bool, word string, failures, lines int) {
		t.Helper()
		got, text := page("/readyz?verbose")
		if want := map[bool]int{true: 200, false: 503}[ready]; got != want || ready != strings.HasPrefix(text, "ready\n") {
			t.Errorf("%d %s", got, text)
		}
		if !strings.Contains(text, "\n"+u.URL+": "+word+", answered ") || !strings.Contains(text, fmt.Sprintf(", %d failures in succession\n", failures)) {
			t.Errorf("want %s and %d failures in\n%s", word, failures, text)
		}
		if all := p.State().Upstreams; len(all) != 1 || all[0].Upstream != u.URL || all[0].Down == (word == "up") || all[0].Failures != failures || all[0].Answered.IsZero() {
			t.Errorf("want %s and %d failures in %+v", word, failures, all)
		}
		if n := strings.Count(log.text(), `"msg":"the upstream is `); n != lines {
			t.Errorf("%d lines, want %d: %s", n, lines, log.text())
		}
	}
	ask(200)
	f(true, "up", 0, 0)
	ask(0)
	ask(503)
	f(true, "up", 2, 0)
	ask(429) // it lives
	f(true, "up", 0, 0)
	ask(0)
	ask(502)
	ask(0)
	f(false, "down", 3, 1)
	ask(504)
	f(false, "down", 4, 1)
	p.chat(chatBody, "X-Laconic-Mode", "sideways") // shows nothing
	n++
	f(false, "down", 4, 1)
	ask(400)
	f(true, "up", 0, 2)
	for _, want := range []string{
		`"level":"warn"`, `"msg":"the upstream is down"`, `"upstream":"` + u.URL + `/v1"`, `"failures":3`, `"error":"upstream_broke"`,
		`"msg":"the upstream is up"`, `"failures":4`, `"down":`,
	} {
		if !strings.Contains(log.text(), want) {
			t.Errorf("no %s in %s", want, log.text())
		}
	}
	if _, text := page("/readyz?verbose"); strings.Contains(text+log.text(), "canary") {
		t.Error(text)
	}
}

func TestA404WithoutAVersionIsHintedOnce(t *testing.T) {
	f := func(base string, ask func(p *running, n int), want string) {
		t.Helper()
		var log logged
		u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there/chat/completions" && !strings.Contains(r.Header.Get("User-Agent"), "no model") {
				_, _ = io.WriteString(w, plainAnswer)
				return
			}
			http.NotFound(w, r)
		})
		p := inFrontOf(t, u, func(o *Options) {
			o.Listener = LogTo(log.at(zap.WarnLevel))
			o.Default.Upstream = parseURL(t, u.URL+base)
		})
		for n := range 3 {
			ask(p, n)
		}
		p.replies(3)
		hint := `"hint":"most servers have their API below /v1: upstream: ` + u.URL + base + `/v1"`
		if got := strings.Count(log.text(), hint); got != map[bool]int{true: 1}[want != ""] || !strings.Contains(log.text(), want) {
			t.Errorf("%q: %s", base, log.text())
		}
	}
	chat := func(p *running, _ int) { p.chat(chatBody) }
	f("", chat, `"endpoint":"/chat/completions"`)
	f("/api", chat, `"endpoint":"/chat/completions"`)
	f("", func(p *running, _ int) { p.do("GET", "/v1/models", nil) }, `"endpoint":"/models"`)
	f("/v1", chat, "")
	f("/api/v4", chat, "")
	f("", func(p *running, _ int) { p.do("GET", "/v1/who/knows", nil) }, "")
	f("/there", func(p *running, n int) { // a model that is not there is no path that is not
		p.chat(chatBody, "User-Agent", []string{"", "no model", "no model"}[n])
		p.replies(n + 1)
	}, "")
}

func TestTheAdminPageTellsTheWindowsThatUpstreamsTell(t *testing.T) {
	u := teller(t, map[string]string{"/v1/models": `{"data":[{"id":"gpt-4o","max_model_len":20000},{"id":"unused","max_model_len":30000}]}`})
	p := inFrontOf(t, u, func(o *Options) { o.Default.Limits, o.Default.Discover = compact.Limits{Window: 100_000}, true })
	page := adminPage(t, p.Proxy, operate.Options{})
	rig.Eventually(t, "the window on the page", func() bool {
		p.chat(chatBody)
		_, text := page("/readyz?verbose")
		return strings.Contains(text, "\nlearnt: 1\n") && strings.Contains(text, `/v1 "gpt-4o" credential `) && strings.Contains(text, ": told a window of 20000\n")
	})
}
