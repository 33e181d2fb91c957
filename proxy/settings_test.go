package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"laconic/compact"
	"laconic/proxy/operate"
	"laconic/proxy/summarize"
)

// reload puts changed options in the place of those that o was.
func (r *running) reload(o Options, change func(*Options)) {
	r.t.Helper()
	change(&o)
	if err := r.Reload(o); err != nil {
		r.t.Fatal(err)
	}
}

// A request that has begun, its second attempt included, knows nothing of a reload.
func TestARequestGoesOnUnderWhatItBeganUnder(t *testing.T) {
	arrived, reloaded := make(chan bool), make(chan bool)
	var n atomic.Int64
	old := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			arrived <- true
			<-reloaded
			says(w, 5000, 2000)
			return
		}
		_, _ = io.WriteString(w, plainAnswer)
	})
	other := newUpstream(t, nil)
	o := options(old.base(t, "/v1"))
	o.Default.Key, o.Default.Limits = "sk-old", compact.Limits{Window: 100_000}
	p := start(t, o)
	body := agentBody(30, 100)
	go func() {
		<-arrived
		p.reload(o, func(o *Options) {
			o.Default.Upstream, o.Default.Key, o.ResponseHeaders = other.base(t, "/v1"), "sk-new", false
			o.Default.Policy = &compact.Policy{Name: "none"}
			o.Default.Limits = compact.Limits{Budget: 10}
		})
		close(reloaded)
	}()
	res := p.chat(body)
	all := old.requests()
	if res.StatusCode != 200 || len(all) != 2 || all[1].Header.Get("Authorization") != "Bearer sk-old" || len(all[1].Body) >= len(body) {
		t.Fatalf("%d after %d requests", res.StatusCode, len(all))
	}
	if len(other.requests()) != 0 || res.Header.Get(headerOutcome) != string(Retried) {
		t.Errorf("the other upstream saw %d, headers %v", len(other.requests()), res.Header)
	}
	res = p.chat(body)
	if got := other.only(t); got.Header.Get("Authorization") != "Bearer sk-new" || res.Header.Get(headerOutcome) != "" || len(old.requests()) != 2 {
		t.Errorf("after it: %v %v", got.Header, res.Header)
	}
}

// Facts of an upstream hold for the next settings too, but no count made in another
// way.
func TestWhatWasLearntOutlivesAReload(t *testing.T) {
	u := newLimited(t, 2000, says)
	o := options(u.base(t, "/v1"))
	windowed(100_000)(&o)
	p := start(t, o)
	f := func(tokenizer string, sent int) {
		t.Helper()
		before := len(u.requests())
		p.reload(o, func(o *Options) { o.Default.Tokenizer, o.Strict = tokenizer, true })
		if res := p.chat(agentBody(30, 100)); res.StatusCode != 200 || len(u.requests()) != before+sent {
			t.Errorf("%s: %d after %d requests, want %d", tokenizer, res.StatusCode, len(u.requests())-before, sent)
		}
	}
	f("", 2)
	f("", 1)
	f("bytes/4", 2)
	f("bytes/4", 1)
	f("", 1)
	if n := strings.Count(p.upstreams.Words(), ": up,"); n != 1 {
		t.Errorf("%d upstreams are up", n)
	}
}

// saying is a stage that puts its own word in the place of what leaves.
type saying string

func (saying) Name() string { return "summarize" }

func (s saying) Shrink(d *compact.Draft) {
	if d.Over() > 0 {
		d.Summarize(s, 200, "a text in its place")
	}
}

func (s saying) Record(compact.Counter, func() bool) compact.Recorder {
	return compact.Recorder(func([]compact.Message, []compact.Message, int, bool) string { return "THE-WORD " + string(s) })
}

// Texts for slots are remembered under the policy that they were made by: one of the
// same name may make others.
func TestAPolicyOfTheSameNameMakesItsOwnTexts(t *testing.T) {
	u := newUpstream(t, nil)
	o := options(u.base(t, "/v1"))
	o.Default.Policy = &compact.Policy{Name: "adaptive", Version: "1", Ladder: []compact.Stage{saying("one"), drop{}}}
	p := start(t, o)
	f := func(version, word, want string) {
		t.Helper()
		p.reload(o, func(o *Options) {
			o.Default.Policy = &compact.Policy{Name: "adaptive", Version: version, Ladder: []compact.Stage{saying(word), drop{}}}
		})
		p.chat(agentBody(30, 100))
		if got := string(u.newest()); !strings.Contains(got, "THE-WORD "+want) {
			t.Errorf("version %s: no %q in %.400s", version, want, got)
		}
	}
	f("1", "one", "one")
	f("2", "two", "two")
	f("1", "never asked", "one") // remembered
}

func TestAReloadIsWholeOrNothing(t *testing.T) {
	u := newUpstream(t, nil)
	o := options(u.base(t, "/v1"))
	o.Default.Key, o.ClientKeys = "sk-ours", []ClientKey{{Key: "first-key"}}
	p := start(t, o)
	was := p.settings.Load()
	bad := o
	bad.Strict, bad.Default.Key = true, ""
	err := p.Reload(bad)
	if err == nil || !strings.Contains(err.Error(), "needs an api_key") || p.settings.Load() != was {
		t.Errorf("%v", err)
	}
	f := func(key string, want int) {
		t.Helper()
		p.chat(chatBody, "Authorization", "Bearer "+key).want(t, want, key)
	}
	f("first-key", 200)
	p.reload(o, func(o *Options) { o.ClientKeys = []ClientKey{{Key: "second-key"}} })
	f("first-key", 401)
	f("second-key", 200)

	// Fixed options stay, whatever comes with them, and are checked with the others.
	p.reload(o, func(o *Options) {
		o.Listen, o.Transport, o.Listener = ":1", http.DefaultTransport, Listener{}
		o.Limits = Limits{Body: 1, Memory: 2, Header: 3, Connections: 4, ResponseHeader: 5, StreamIdle: 6 * time.Second, Shutdown: 7 * time.Second}
		o.Summarizer = &summarize.Options{}
	})
	want := was.Limits
	want.StreamIdle, want.Shutdown = 6*time.Second, 7*time.Second
	if s := p.settings.Load(); s.Listen != "" || s.Transport != nil || s.Limits != want || s.Summarizer != nil {
		t.Errorf("%q %v %+v %v", s.Listen, s.Transport, s.Limits, s.Summarizer)
	}
	f("first-key", 200)
}

func TestWhoMaySeeTheAdminListenerChangesWithAReload(t *testing.T) {
	o := options(parseURL(t, "http://127.0.0.1:1/v1"))
	o.AdminToken, o.AllowedOrigins = "first-token", []string{"https://app.example"}
	p := start(t, o)
	open := must(p.Admin(operate.Options{Listen: ":7281"}))
	near := must(p.Admin(operate.Options{}))
	f := func(srv *http.Server, token, origin string, want int) {
		t.Helper()
		r := httptest.NewRequest("GET", "/healthz?verbose", nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+token)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		if srv.Handler.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s %s: %d, want %d", token, origin, w.Code, want)
		}
	}
	f(open, "first-token", "", 200)
	f(near, "first-token", "https://app.example", 200)
	p.reload(o, func(o *Options) { o.AdminToken, o.AllowedOrigins = "second-token", nil })
	f(open, "first-token", "", 401)
	f(open, "second-token", "", 200)
	f(near, "second-token", "", 200)
	f(near, "second-token", "https://app.example", 403)
	o.AdminToken = ""
	if _, err := start(t, o).Admin(operate.Options{Listen: ":7281"}); err == nil {
		t.Error("an admin listener that others reach needs no token")
	}
	if err := p.Reload(o); err == nil {
		t.Error("the token of an open admin listener was taken away")
	}
	f(open, "", "", 401)
}
