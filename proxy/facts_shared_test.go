package proxy

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// lessonOf is what p holds of a request's model.
func (p *running) lessonOf(model string) *lesson {
	return p.learned.lesson(p.factKey(http.Header{}, &p.o.Default, model), &p.o.Default, model)
}

// Azure names the model by the path, and does not look at what the body says.
func TestFactsBelongToADeployment(t *testing.T) {
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, r *http.Request) {
		all := u.requests()
		if n := wordsIn(all[len(all)-1].Body); n > 2000 && strings.Contains(r.URL.Path, "small") {
			says(w, n, 2000)
			return
		}
		_, _ = io.WriteString(w, plainAnswer)
	})
	withModel := agentBody(30, 100)
	for _, body := range []string{withModel, strings.Replace(withModel, `"model":"gpt-4o",`, "", 1)} {
		for _, below := range []string{"/openai/deployments/", "/v1/deployments/", "/deployments/"} {
			p := inFrontOf(t, u, windowed(100_000))
			send := func(name, outcome string) {
				t.Helper()
				if res := p.do("POST", below+name+"/chat/completions?api-version=1", strings.NewReader(body)); res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != outcome {
					t.Errorf("%s%s: %d %s, want %s", below, name, res.StatusCode, res.Header.Get("X-Laconic-Outcome"), outcome)
				}
			}
			send("small-a", "retried")
			send("small-a", "compacted")
			send("large", "untouched")
			send("small-b", "retried")
			send("small-a", "compacted")
			r, page := p.replies(1)[0], p.known()
			if !strings.HasPrefix(r.Rewrite.Model, "small-a") || r.Endpoint != "/chat/completions" || !strings.Contains(page, `"small-a`) || !strings.Contains(page, `"small-b`) {
				t.Errorf("%s: %q %q\n%s", below, r.Rewrite.Model, r.Endpoint, page)
			}
		}
	}
}

func TestProcessesThatRunShareWhatTheyLearn(t *testing.T) {
	u := newLimited(t, 2000, says)
	s := &shelf{all: map[FactKey]Learnt{}}
	kept := func(o *Options) { o.Facts, o.FactsSecret = s, "s" }
	one, other := inFrontOf(t, u.upstream, windowed(100_000), kept), inFrontOf(t, u.upstream, windowed(100_000), kept)
	other.chat(agentBody(2, 10))
	one.chat(agentBody(30, 100))
	e := other.lessonOf("gpt-4o")
	if l := e.read(other.Proxy); l.known() {
		t.Fatalf("asked at every request: %+v", l)
	}
	eventually(t, "the first to tell", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.all) == 1
	})
	e.mu.Lock()
	e.asked = e.asked.Add(-2 * factsFresh)
	e.mu.Unlock()
	other.chat(agentBody(2, 10))
	eventually(t, "the other to know", func() bool { return e.read(other.Proxy).Window == 2000 })
	before := len(u.requests())
	if res := other.chat(agentBody(30, 100)); res.StatusCode != 200 || len(u.requests())-before != 1 {
		t.Errorf("%d after %d hits, want one", res.StatusCode, len(u.requests())-before)
	}
}

// TestWhatOneLearnsDoesNotUndoWhatAnotherDid: both write under one key.
func TestWhatOneLearnsDoesNotUndoWhatAnotherDid(t *testing.T) {
	now := time.Now()
	soon, later := now.Add(time.Hour), now.Add(2*time.Hour)
	window := Learnt{Window: 2000, Until: soon, Since: now}
	newer := Learnt{Input: 900, Until: soon.Add(-time.Minute), Since: now.Add(time.Second)} // and shorter believed
	percent := Learnt{Percent: 120, PercentUntil: soon}
	shape := Learnt{Shape: ShapeNoSlot, ShapeUntil: soon}
	both := Learnt{Window: 2000, Until: soon, Since: now, Percent: 120, PercentUntil: soon}
	for _, c := range []struct {
		l, k, want Learnt
		measured   bool
	}{
		{Learnt{}, window, window, false},
		{window, Learnt{}, window, false},
		{window, percent, both, false},
		{percent, window, both, true},
		{window, percent, window, true},
		{window, newer, newer, false},
		{newer, window, newer, false},
		{window, Learnt{Cap: 900, GuessUntil: later}, Learnt{Window: 2000, Until: soon, Since: now, Cap: 900, GuessUntil: later}, false},
		{window, Learnt{Took: 900, TookUntil: later}, Learnt{Window: 2000, Until: soon, Since: now, Took: 900, TookUntil: later}, false},
		{window, shape, Learnt{Window: 2000, Until: soon, Since: now, Shape: ShapeNoSlot, ShapeUntil: soon}, true},
		{Learnt{Until: soon, Since: now}, window, Learnt{Until: soon, Since: now}, false}, // it was found to be none
	} {
		if got := c.l.with(c.k, !c.measured); got != c.want {
			t.Errorf("%+v with %+v: %+v, want %+v", c.l, c.k, got, c.want)
		}
	}
	far := Learnt{Window: 2000, Until: now.Add(1e6 * time.Hour)}
	if got := far.believed(now); !got.Until.Equal(now.Add(limitLife)) || got.Window != 2000 {
		t.Errorf("a time that no process could have written: %+v", got)
	}
	if text, got := far, (Learnt{}); json.Unmarshal(must(json.Marshal(text)), &got) != nil || !got.same(far) || got.same(window) {
		t.Errorf("%+v through JSON: %+v", text, got)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// mute is a place for facts that never answers.
type mute struct{ asked atomic.Int32 }

func (s *mute) Load(ctx context.Context, _ FactKey) (Learnt, bool) {
	s.asked.Add(1)
	<-ctx.Done()
	return Learnt{}, false
}

func (s *mute) Save(ctx context.Context, _ FactKey, _ Learnt) { <-ctx.Done() }

// TestFactsThatDoNotComeHoldNobodyUp but the first request of a model, which
// waits for as long as it is said.
func TestFactsThatDoNotComeHoldNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(mute)
		p := &Proxy{o: Options{Facts: s}}
		p.background = newBackground(p)
		e := new(lesson)
		read := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			if e.read(p); time.Since(began) != want {
				t.Errorf("a request waited for %v, want %v", time.Since(began), want)
			}
		}
		read(factsWait)
		read(0)
		time.Sleep(2 * factsFresh)
		read(0)
		e.change(p, func(now time.Time, l *Learnt) { l.Cap, l.GuessUntil = 1000, now.Add(guessLife) })
		read(0)
		if l := e.read(p); l.Cap != 1000 {
			t.Errorf("%+v", l)
		}
		began := time.Now()
		p.background.close()
		if d := time.Since(began); d > 2*factsWait {
			t.Errorf("the end of the proxy took %v", d)
		}
		if n := s.asked.Load(); n != 3 {
			t.Errorf("asked %d times, want 3", n)
		}
	})
}

// slow is a place for facts that answers after a while.
type slow struct{ kept Learnt }

func (s slow) Load(context.Context, FactKey) (Learnt, bool) {
	time.Sleep(factsWait / 2)
	return s.kept, true
}

func (slow) Save(context.Context, FactKey, Learnt) {}

// TestOneReaderWaitsForFacts and those behind it do not, nor does what is learnt
// meanwhile, which stays.
func TestOneReaderWaitsForFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		until := began.Add(time.Hour)
		p := &Proxy{o: Options{Facts: slow{Learnt{Window: 2000, Since: began, Until: until, Cap: 700, GuessUntil: until}}}}
		p.background = newBackground(p)
		e := new(lesson)
		first := make(chan Learnt, 1)
		go func() { first <- e.read(p) }()
		synctest.Wait()
		if !e.mu.TryLock() { // a virtual clock would wait for it for ever
			t.Fatal("the first reader holds the lock while it waits")
		}
		e.mu.Unlock()
		if l := e.read(p); l.known() {
			t.Errorf("known before it came: %+v", l)
		}
		e.change(p, func(now time.Time, l *Learnt) { l.Cap, l.GuessUntil = 500, now.Add(2*time.Hour).Add(-time.Minute) })
		if l := e.read(p); l.Cap != 500 {
			t.Errorf("%+v", l)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("those behind the first waited for %v", waited)
		}
		if l := <-first; l.Window != 2000 || l.Cap != 500 || time.Since(began) != factsWait/2 {
			t.Errorf("%+v after %v", l, time.Since(began))
		}
		p.background.close()
	})
}
