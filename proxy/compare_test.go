package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/tokenize"

	"laconic/proxy/access"
	"laconic/proxy/learn"
)

func calibrating(o *Options) {
	o.Default.Limits = compact.Limits{Window: 100_000}
	o.Calibrate = func(plain, way, percent int) learn.Calibration { return tokenize.NewCalibration(plain, way, percent) }
}

// counts is an upstream that reports usage: so many hundredths of the words
// that it read.
func counts(t testing.TB, form string, percent func(body []byte) int) *upstream {
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
		all := u.requests()
		body := all[len(all)-1].Body
		usage := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":2,"total_tokens":0}`, wordsIn(body)*percent(body)/100)
		switch form {
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"id\":1,\"choices\":[]}\n\ndata: {\"id\":1,\"choices\":[],%s}\n\ndata: [DONE]\n\n", usage)
		default:
			_, _ = io.WriteString(w, `{"id":"x","choices":[],`+usage+`}`)
		}
	})
	return u
}

func TestUsageCorrectsTheCounter(t *testing.T) {
	for _, form := range []string{"whole", "stream"} {
		t.Run(form, func(t *testing.T) {
			p := inFrontOf(t, counts(t, form, func([]byte) int { return 120 }), calibrating)
			var before []int
			for turn := 1; turn <= 4; turn++ {
				p.chat(agentBody(20, 100), "Authorization", "Bearer a")
				r := p.replies(turn)[turn-1].Rewrite
				before = append(before, r.Report.Before)
				if want := map[bool]int{false: 0, true: 122}[turn > 1]; r.Facts.Count.Value.Percent != want {
					t.Errorf("turn %d: %d %%, want %d", turn, r.Facts.Count.Value.Percent, want)
				}
			}
			if before[3] < before[0]*115/100 {
				t.Errorf("the same request was counted as %v", before)
			}
			p.chat(agentBody(20, 100), "Authorization", "Bearer b")
			if r := p.replies(5)[4].Rewrite; isLearnt(r.Facts) {
				t.Errorf("another credential: %+v", r.Facts)
			}
		})
	}
}

// A client that closes its connection once it has read [DONE] leaves before the
// answer's end. Its usage counts all the same.
func TestUsageCountsAlthoughTheClientLeft(t *testing.T) {
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, r *http.Request) {
		all := u.requests()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"id\":1,\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
			wordsIn(all[len(all)-1].Body)*120/100)
		w.(http.Flusher).Flush()
		<-r.Context().Done() // the end never comes
	})
	p := inFrontOf(t, u, calibrating)
	for turn := 1; turn <= 2; turn++ {
		res, err := client.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(agentBody(20, 100)))
		if err != nil {
			t.Fatal(err)
		}
		for read := bufio.NewScanner(res.Body); read.Scan() && read.Text() != "data: [DONE]"; {
		}
		_ = res.Body.Close()
		r := p.replies(turn)[turn-1]
		if got := r.Rewrite.Facts.Count.Value.Percent; r.Status != StatusClientLeft || turn > 1 && got != 122 {
			t.Errorf("turn %d: status %d, counts at %d %%", turn, r.Status, got)
		}
	}
}

// An upstream that cuts the prompt without a word teaches nothing, but the
// operator is told.
func TestASilentTruncatorIsNamedAndNotLearntFrom(t *testing.T) {
	var log logged
	p := inFrontOf(t, counts(t, "whole", func([]byte) int { return 30 }), calibrating, func(o *Options) { o.Listener = LogTo(log.at(zap.InfoLevel)) })
	for turn := 1; turn <= 10; turn++ {
		p.chat(agentBody(10, 100))
		if r := p.replies(turn)[turn-1]; !r.Cut || isLearnt(r.Rewrite.Facts) {
			t.Errorf("turn %d: cut %v, %+v", turn, r.Cut, r.Rewrite.Facts)
		}
	}
	if !strings.Contains(log.text(), `"prompt_cut_by_upstream":true`) {
		t.Errorf("the log does not tell: %s", log.text())
	}
}

// A plan with a slot charges more than its text costs. What was sent is counted,
// so that its bills lower a counter too.
func TestBillsOfSlotsCorrectTheCounter(t *testing.T) {
	p := inFrontOf(t, counts(t, "whole", func([]byte) int { return 70 }), calibrating, func(o *Options) {
		o.Default.Policy = &compact.Policy{Name: "x", Ladder: []compact.Stage{telling{}, drop{}}}
		o.Default.Limits = compact.Limits{Budget: 1000}
	})
	for turn := 1; turn <= 6; turn++ {
		p.chat(agentBody(30+turn, 60+7*turn))
		r := p.replies(turn)[turn-1].Rewrite
		if p := r.Facts.Count.Value.Percent; turn < 4 && p != 0 || turn == 6 && (p < 68 || p > 74) || r.Report.Epochs == 0 {
			t.Errorf("turn %d: %d %%; %d epochs", turn, p, r.Report.Epochs)
		}
	}
}

// No policy that counts by its own numbers is corrected; media, what was cached
// and left out, and short prompts say nothing.
func TestWhatSaysNothingOfTheCounter(t *testing.T) {
	own := &compact.Policy{Name: "x", Ladder: []compact.Stage{drop{}}, Counter: compacttest.Words{}}
	picture := strings.Replace(agentBody(10, 100), `"content":"read the files"`, `"content":[{"type":"text","text":"`+strings.Repeat("read ", 600)+`"}`+strings.Repeat(`,{"type":"image_url","image_url":{"url":"x"}}`, 100)+`]`, 1)
	for name, c := range map[string]struct {
		policy *compact.Policy
		body   string
		usage  string
	}{
		"own counter":   {policy: own, body: agentBody(30, 100), usage: `{"prompt_tokens":1300}`},
		"media":         {body: picture, usage: `{"prompt_tokens":9000}`},
		"cached":        {body: agentBody(10, 100), usage: `{"prompt_tokens":1300,"prompt_tokens_details":{"cached_tokens":1400}}`},
		"a short one":   {body: agentBody(4, 100), usage: `{"prompt_tokens":900}`},
		"nothing of it": {body: agentBody(10, 100), usage: `null`},
	} {
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"id":"x","choices":[],"usage":`+c.usage+`}`)
		})
		p := inFrontOf(t, u, calibrating, func(o *Options) {
			o.Default.Limits = compact.Limits{Budget: 9000}
			if c.policy != nil {
				o.Default.Policy = c.policy
			}
		})
		for turn := 1; turn <= 5; turn++ {
			p.chat(c.body)
			if r := p.replies(turn)[turn-1].Rewrite; r.Facts.Count.Value.Percent != 0 {
				t.Errorf("%s, turn %d: %+v", name, turn, r.Facts)
			}
		}
	}
}

func TestTheAdminPageTellsWhatWasLearnt(t *testing.T) {
	u := newLimited(t, 2000, says)
	p := inFrontOf(t, u.upstream, windowed(100_000))
	p.chat(strings.Replace(agentBody(30, 100), "gpt-4o", "a\\nb", 1), "Authorization", "Bearer sk-canary")
	srv, err := p.Admin(AdminOptions{})
	if err != nil {
		t.Fatal(err)
	}
	page := func(path string) string {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		srv.Handler.ServeHTTP(w, r)
		return w.Body.String()
	}
	text := page("/readyz?verbose")
	if !strings.Contains(text, "learnt: 1\n"+u.base(t, "/v1").Host+"/v1 \"a�b\" credential ") || !strings.Contains(text, "window 2000") || strings.Contains(text, "canary") {
		t.Errorf("%s", text)
	}
	p.replies(1)
	p = inFrontOf(t, u.upstream, windowed(100_000), func(o *Options) { o.Facts = &shelf{all: map[learn.Key]learn.Facts{}} })
	p.chat(strings.Replace(agentBody(30, 100), "gpt-4o", "a\\nb", 1))
	if srv, err = p.Admin(AdminOptions{}); err != nil {
		t.Fatal(err)
	}
	if text := page("/readyz?verbose"); !strings.Contains(text, "learnt: 1, of what was asked for since the start; the store may hold more\n") {
		t.Errorf("%s", text)
	}
	if page("/readyz") != "ready\n" {
		t.Errorf("%s", page("/readyz"))
	}
}

// shelf is a place for facts outside of the process.
type shelf struct {
	mu  sync.Mutex
	all map[learn.Key]learn.Facts
}

func (s *shelf) Load(_ context.Context, key learn.Key) (learn.Facts, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[key], true
}

func (s *shelf) Save(_ context.Context, key learn.Key, l learn.Facts) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[key] = l
	return true
}

func TestAnotherProcessKnowsWhatOneHasLearnt(t *testing.T) {
	u := newLimited(t, 2000, says)
	s := &shelf{all: map[learn.Key]learn.Facts{}}
	kept := func(secret string) func(*Options) {
		return func(o *Options) { o.Facts, o.FactsSecret = s, access.Secret(secret) }
	}
	f := func(p *running, hits int) {
		t.Helper()
		before := len(u.requests())
		if res := p.chat(agentBody(30, 100)); res.StatusCode != 200 || len(u.requests())-before != hits {
			t.Errorf("%d after %d hits, want %d", res.StatusCode, len(u.requests())-before, hits)
		}
	}
	first := inFrontOf(t, u.upstream, windowed(100_000), kept("s"))
	f(first, 2)
	first.stop()
	f(inFrontOf(t, u.upstream, windowed(100_000), kept("s")), 1)
	f(inFrontOf(t, u.upstream, windowed(100_000), kept("another")), 2)
	s.mu.Lock()
	for k, l := range s.all {
		l.Window.Value, l.Shape.Value, l.Count.Value = -1, 255, learn.Count{Way: strings.Repeat("x", 1000), Percent: 100_000} // damaged
		s.all[k] = l
	}
	s.mu.Unlock()
	f(inFrontOf(t, u.upstream, windowed(100_000), kept("s")), 2)
}

// TestABrokenCalibrationCostsNothingButItself: the panic is told, and the next
// request finds no lock held.
func TestABrokenCalibrationCostsNothingButItself(t *testing.T) {
	p := inFrontOf(t, counts(t, "whole", func([]byte) int { return 120 }), calibrating, func(o *Options) {
		o.Calibrate = func(int, int, int) learn.Calibration { panic("a fault of this test") }
	})
	for range 2 {
		if res := p.chat(agentBody(10, 100)); res.StatusCode != 200 {
			t.Errorf("status %d", res.StatusCode)
		}
	}
	p.replies(2)
	if n := len(p.faults()); n != 2 {
		t.Errorf("%d faults were told, want 2", n)
	}
}
