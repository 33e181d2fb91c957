package proxy

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"

	"laconic/proxy/learn"
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
	for _, configured := range []bool{false, true} {
		u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				_, _ = io.WriteString(w, strings.Replace(plainAnswer, `"prompt_tokens":11`, `"prompt_tokens":0`, 1))
				return
			}
			http.NotFound(w, r)
		})
		p := inFrontOf(t, u, calibrating, func(o *Options) {
			o.Default.Counter, o.Default.Discover, o.Default.Configured = guessing{}, true, configured
		})
		p.chat(agentBody(10, 100))
		if c := p.replies(1)[0].Rewrite.Facts.Count.Value; c != (learn.Count{Way: "words", Percent: 123}) {
			t.Errorf("at first %+v", c)
		}
		eventually(t, "the upstream is asked", func() bool {
			_, refuses := p.published(p.settings.Load(), http.Header{}, &p.settings.Load().Default, "gpt-4o", true)
			return refuses
		})
		p.chat(agentBody(10, 100))
		if c := p.replies(2)[1].Rewrite.Facts.Count.Value; c.Percent != 0 {
			t.Errorf("%d %% once it is known, want none", c.Percent)
		}
	}
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
	if r.Facts.Count.Value.Way != "letters" || r.Facts.Count.Value.Percent < 98 || r.Facts.Count.Value.Percent > 125 {
		t.Errorf("%+v", r.Facts)
	}
	if text := p.learnt.Describe(); !strings.Contains(text, "counts by letters") {
		t.Error(text)
	}
}

// What was stored by a process that knew one way alone is read, and says nothing
// of a counter that guesses.
func TestAFactorWithoutItsWayIsNotUsed(t *testing.T) {
	facts := func(way string, percent int) learn.Facts {
		return learn.Facts{Window: learn.Fact[int]{Value: 5000}, Count: learn.Fact[learn.Count]{Value: learn.Count{Way: way, Percent: percent}}}
	}
	tr := &conversation{ways: new(Route).waysOf(guessing{})}
	l := tr.counting(facts("", 75), true)
	if l.Count.Value != (learn.Count{Way: "words"}) || l.Window.Value != 5000 {
		t.Errorf("%+v", l)
	}
	if l := tr.counting(facts("letters", 96), false); l.Count.Value != (learn.Count{Way: "letters", Percent: 96}) {
		t.Errorf("%+v", l)
	}
	one := &conversation{ways: new(Route).waysOf(compacttest.Words{})}
	if l := one.counting(facts("", 75), false); l.Count.Value != (learn.Count{Percent: 75}) {
		t.Errorf("%+v", l)
	}
}
