package proxy

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// guessing counts words, or letters: nobody knows which the upstream does.
type guessing struct{ compacttest.Words }

type letters struct{ compacttest.Words }

func (letters) Part(p *compact.Part) int { return p.Text.Len() / 3 }

func (g guessing) Ways() []Way { return []Way{{"words", g}, {"letters", letters{}}} }
func (guessing) Careful() int  { return 123 }

// A model that nobody knows is counted with care where a prompt that is too long
// may be cut in silence: until the upstream showed what it is, and where it is
// one that does. A configured window makes no difference.
func TestWhoMayCutIsCountedWithCare(t *testing.T) {
	const nothingLoaded = `{"models":[]}`
	f := func(name string, configured bool, key Secret, pages map[string]string, status, want int) {
		t.Helper()
		u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			page, ok := pages[r.URL.Path]
			switch {
			case r.Method == http.MethodPost:
				_, _ = io.WriteString(w, strings.Replace(plainAnswer, `"prompt_tokens":11`, `"prompt_tokens":0`, 1))
			case ok:
				_, _ = io.WriteString(w, page)
			default:
				w.WriteHeader(status)
			}
		})
		p := inFrontOf(t, u, calibrating, func(o *Options) {
			o.Default.Counter, o.Default.Discover, o.Default.Configured, o.Default.Key = guessing{}, true, configured, key
		})
		p.chat(agentBody(10, 100))
		if r := p.replies(1)[0].Rewrite; r.Facts.Percent != 123 || r.Facts.Way != "words" {
			t.Errorf("%s: at first %+v", name, r.Facts)
		}
		eventually(t, "the upstream is asked", func() bool {
			for _, a := range p.discovery.all.All() {
				a.mu.Lock()
				running := a.running
				a.mu.Unlock()
				return !running
			}
			return false
		})
		p.chat(agentBody(10, 100))
		if r := p.replies(2)[1].Rewrite; r.Facts.Percent != want {
			t.Errorf("%s: %d %%, want %d", name, r.Facts.Percent, want)
		}
	}
	f("a stranger without their pages", false, "", nil, 404, 0)
	f("the same, the window configured", true, "", nil, 404, 0)
	f("one that tells", false, "", map[string]string{"/v1/models": `{"data":[{"id":"gpt-4o","max_model_len":90000}]}`}, 404, 0)
	f("Ollama", false, "", map[string]string{"/api/ps": `{"models":[{"name":"gpt-4o","context_length":90000}]}`}, 404, 123)
	f("Ollama, nothing loaded", false, "", map[string]string{"/api/ps": nothingLoaded}, 404, 123)
	f("LM Studio", true, "", map[string]string{"/api/v0/models": `{"data":[]}`}, 404, 123)
	f("a page for people", false, "", map[string]string{"/api/ps": "<html>", "/api/v0/models": "<html>", "/api/v1/models": "<html>"}, 404, 0)
	f("one that says nothing", false, "", nil, 500, 123)
	f("one that is not for this client", false, "", nil, 401, 123)
	f("with the operator's key", false, "k", nil, 404, 123)
}

// Three answers show by which way the upstream counts, and the plan uses it.
func TestAnswersShowTheWay(t *testing.T) {
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
		all := u.requests()
		n := len(all[len(all)-1].Body) / 3
		_, _ = io.WriteString(w, strings.Replace(plainAnswer, `"prompt_tokens":11`, `"prompt_tokens":`+strconv.Itoa(n), 1))
	})
	p := inFrontOf(t, u, calibrating, func(o *Options) { o.Default.Counter = guessing{} })
	for turn := 1; turn <= 6; turn++ {
		p.chat(strings.ReplaceAll(agentBody(10+3*turn, 100), "word", strings.Repeat("w", 4*turn)))
		p.replies(turn) // what it was billed is known then
	}
	r := p.replies(6)[5].Rewrite
	if r.Facts.Way != "letters" || r.Facts.Percent < 98 || r.Facts.Percent > 125 {
		t.Errorf("%+v", r.Facts)
	}
	if text := p.known(); !strings.Contains(text, "counts by letters") {
		t.Error(text)
	}
}

// What was stored by a process that knew one way alone is read, and says nothing
// of a counter that guesses.
func TestAFactorWithoutItsWayIsNotUsed(t *testing.T) {
	tr := &trip{ways: waysOf(guessing{})}
	l := tr.counting(Learnt{Window: 5000, Percent: 75, PercentUntil: time.Now()}, true)
	if l.Percent != 0 || l.Way != "words" || l.Window != 5000 {
		t.Errorf("%+v", l)
	}
	if l := tr.counting(Learnt{Way: "letters", Percent: 96}, false); l.Percent != 96 || l.Way != "letters" {
		t.Errorf("%+v", l)
	}
	one := &trip{ways: waysOf(compacttest.Words{})}
	if l := one.counting(Learnt{Percent: 75}, false); l.Percent != 75 || l.Way != "" {
		t.Errorf("%+v", l)
	}
}
