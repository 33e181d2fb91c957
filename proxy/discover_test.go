package proxy

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"laconic/compact"
	"laconic/e2e/rig"
	"laconic/proxy/discover"
)

// teller is an upstream that answers some paths, and everything else with 404.
func teller(t testing.TB, pages map[string]string) *upstream {
	return newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			_, _ = io.WriteString(w, plainAnswer)
			return
		}
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, page)
	})
}

func paths(u *upstream) []string {
	var all []string
	for _, g := range u.requests() {
		if g.Method == "GET" {
			all = append(all, g.URI)
		}
	}
	return all
}

// TestWhoPublishesNothingIsNotAsked: a request to such an upstream costs no other,
// and what is too long is refused there.
func TestWhoPublishesNothingIsNotAsked(t *testing.T) {
	var asked atomic.Int64
	p := inFrontOf(t, newUpstream(t, nil), func(o *Options) {
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			return nil, io.EOF
		})
	})
	for _, discover := range []bool{true, false} {
		route := Route{Upstream: parseURL(t, "https://api.openai.com/v1"), Discover: discover}
		if published, refuses := p.published(p.settings.Load(), http.Header{}, &route, "gpt-9", true); published != (compact.Published{}) || !refuses {
			t.Errorf("discover %v: %+v, refuses %v", discover, published, refuses)
		}
	}
	if p.stop(); asked.Load() > 0 {
		t.Errorf("it was asked %d times", asked.Load())
	}
}

// A request never waits for discovery, and the next one uses what it found.
func TestDiscoveryIsInTheBackground(t *testing.T) {
	release := make(chan bool)
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			<-release
			_, _ = io.WriteString(w, `{"data":[{"id":"gpt-4o","max_model_len":2048}]}`)
			return
		}
		_, _ = io.WriteString(w, plainAnswer)
	})
	p := inFrontOf(t, u, func(o *Options) { o.Default.Limits, o.Default.Discover = compact.Limits{Window: 100_000}, true })
	for turn := 1; turn <= 3; turn++ { // asked once
		if res := p.chat(agentBody(30, 100)); res.Header.Get("X-Laconic-Outcome") != "untouched" {
			t.Errorf("%v", res.Header)
		}
	}
	close(release)
	rig.Eventually(t, "the window is known", func() bool {
		published, refuses := p.published(p.settings.Load(), http.Header{}, &p.settings.Load().Default, "gpt-4o", false)
		return published.Window == 2048 && refuses
	})
	if res := p.chat(agentBody(30, 100)); res.Header.Get("X-Laconic-Outcome") != "compacted" || res.Header.Get("X-Laconic-Budget") != "1536" {
		t.Errorf("%v", res.Header)
	}
	// Asked once more, because the answers count far less than what was sent.
	if all := slices.Compact(paths(u)); !slices.Equal(all, []string{"/v1/models"}) || len(paths(u)) > 2 {
		t.Errorf("asked %v", paths(u))
	}
	if r := p.replies(4)[3].Rewrite; r.Published.Window != 2048 {
		t.Errorf("%+v", r)
	}
	if head := u.requests()[0].Header; head.Get("User-Agent") == "" {
		t.Errorf("%v", head)
	}
}

// Questions carry the credential that requests to this upstream carry, and
// none goes anywhere else.
func TestWhoseKeyDiscoveryCarries(t *testing.T) {
	f := func(name string, change func(o *Options, u, other *upstream), paths, auth string) {
		t.Run(name, func(t *testing.T) {
			u, other := teller(t, nil), teller(t, nil)
			p := inFrontOf(t, u, func(o *Options) {
				o.Default.Discover = true
				change(o, u, other)
			})
			p.chat(chatBody, "Authorization", "Bearer client")
			asked := u
			if p.settings.Load().Default.Upstream.Host != u.base(t, "").Host || p.settings.Load().RouteFor != nil {
				asked = other
			}
			last := paths[strings.LastIndex(paths, " ")+1:]
			rig.Eventually(t, "all was asked", func() bool {
				all := asked.requests()
				return len(all) > 0 && slices.ContainsFunc(all, func(g got) bool { return g.URI == last })
			})
			var seen []string
			for _, g := range asked.requests() {
				if g.Method != "GET" {
					continue
				}
				seen = append(seen, g.URI)
				if got := g.Header.Get("Authorization"); got != auth {
					t.Errorf("%s carried %q, want %q", g.URI, got, auth)
				}
				if len(g.Header["Cookie"]) > 0 && auth != "Bearer client" {
					t.Errorf("%s carried a cookie", g.URI)
				}
			}
			if got := strings.Join(seen, " "); got != paths {
				t.Errorf("asked %s, want %s", got, paths)
			}
		})
	}
	const all = "/v1/models /props /api/ps /api/v0/models /api/v1/models /info /model/info"
	f("the client's", func(*Options, *upstream, *upstream) {}, all, "Bearer client")
	f("a key of ours, the list alone", func(o *Options, _, _ *upstream) { o.Default.Key = "ours" }, "/v1/models", "Bearer ours")
	f("another upstream gets none", func(o *Options, _, other *upstream) {
		withRow(func(r *Route) { r.Match, r.Upstream = "x", other.base(t, "/v1") })(o)
	}, all, "")
}

// look asks the upstream of the default route what it is.
func (r *running) look() discover.Found {
	s := r.settings.Load()
	return discover.Look(r.t.Context(), r.transport, r.mark, s.asking(http.Header{}, &s.Default))
}

func TestEndlessAnswersToQuestionsAreLeft(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("[", 64<<10)); err != nil {
				return
			}
		}
	})
	p := inFrontOf(t, u)
	if f := p.look(); len(f.Windows) > 0 {
		t.Errorf("%+v", f)
	}
}

// An answer to a prompt that is longer than the window of the model's name shows that the
// name says nothing here: the next request has the window of a model that nobody knows.
func TestAnAnswerAboveTheWindowOfANameDisprovesIt(t *testing.T) {
	for _, configured := range []bool{false, true} {
		u := counts(t, "whole", func([]byte) int { return 100 })
		p := inFrontOf(t, u, calibrating, windowed(2000), func(o *Options) { o.Default.Configured = configured })
		body := strings.Replace(agentBody(10, 100), "be brief", strings.Repeat("brief ", 3000), 1)
		for turn, want := range []string{"over", map[bool]string{false: "untouched", true: "over"}[configured]} {
			res := p.chat(body)
			p.replies(turn + 1)
			if got := res.Header.Get("X-Laconic-Outcome"); got != want {
				t.Errorf("configured %v, request %d: %s with a budget of %s, want %s", configured, turn+1, got, res.Header.Get("X-Laconic-Budget"), want)
			}
		}
	}
}
