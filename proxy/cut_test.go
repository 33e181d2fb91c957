package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"

	"laconic/compact"
)

// reports is an upstream that answers everything, with the usage that it is
// told.
func reports(t *testing.T, finish string, usage func(words int) (prompt, completion int)) *upstream {
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
		all := u.requests()
		prompt, completion := usage(wordsIn(all[len(all)-1].Body))
		_, _ = fmt.Fprintf(w, `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"\"finish_reason\":\"length\""},"finish_reason":%q}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, finish, prompt, completion)
	})
	return u
}

// What an upstream dropped without a word does not count for the counter. It is
// named, once, and is the window that the next request fits.
func TestPromptsThatFillTheWindowAreNamed(t *testing.T) {
	f := func(name, finish string, window int, usage func(words int) (int, int), want bool) {
		t.Helper()
		var log logged
		u := reports(t, finish, usage)
		p := inFrontOf(t, u, calibrating, func(o *Options) {
			o.Default.Limits = compact.Limits{Window: window, Budget: 50_000}
			o.Listener = LogTo(log.at(zap.InfoLevel))
		})
		for turn := 1; turn <= 10; turn++ {
			p.chat(agentBody(50, 100))
			if r := p.replies(turn)[turn-1]; r.Cut != (want && turn == 1) || want && r.Rewrite.Facts.Percent() > 110 {
				t.Fatalf("%s, turn %d: cut %v, %+v", name, turn, r.Cut, r.Rewrite.Facts)
			}
		}
		said := strings.Count(log.text(), "cuts prompts to its window without a word")
		if got := strings.Contains(log.text(), `"prompt_cut_by_upstream":true`); got != want || want != (said == 1) {
			t.Errorf("%s: the log says %v, and warns %d times", name, got, said)
		}
	}
	const odd = 4001
	// read returns what an upstream counts that reads no more than most.
	read := func(most, completion int) func(int) (int, int) {
		return func(words int) (int, int) {
			if words <= most {
				return words, 5
			}
			return most, completion
		}
	}
	f("no room for an answer", "length", 0, read(odd, 0), true)
	f("a round window, no answer", "stop", 0, read(4096, 0), true)
	f("a known window", "stop", odd+20, read(odd, 5), true)
	f("an answer that was cut", "length", 0, func(int) (int, int) { return odd, 100 }, false)
	f("no answer is counted", "stop", 0, func(n int) (int, int) { return n, 0 }, false)
	f("a window that is far", "stop", 4500, func(int) (int, int) { return odd, 5 }, false)
}

// A longer and longer conversation, of which always the same number is read: that is
// the window, as soon as it is seen twice.
func TestAPlateauIsTheWindow(t *testing.T) {
	var log logged
	p := inFrontOf(t, reports(t, "stop", func(n int) (int, int) { return min(n*100/105, 4001), 7 }), calibrating, func(o *Options) {
		o.Listener = LogTo(log.at(zap.WarnLevel))
	})
	full, cut := 0, 0
	for turn := 1; turn <= 40; turn++ {
		p.chat(agentBody(30+turn, 100))
		r := p.replies(turn)[turn-1]
		if r.Usage.Prompt == 4001 {
			full++
		}
		if r.Cut {
			cut++
		}
		if learnt := r.Rewrite.Facts.Window.Value; cut > 0 && !r.Cut && learnt != 4001 || r.Rewrite.Facts.Percent() > 110 {
			t.Errorf("turn %d, %d tokens: a window of %d, %d %%", turn, r.Rewrite.Report.After, learnt, r.Rewrite.Facts.Percent())
		}
	}
	if full != 2 || cut != 1 { // the first of them could be chance
		t.Errorf("%d prompts were cut, and it was seen of %d", full, cut)
	}
	if n := strings.Count(log.text(), `"window":4001`); n != 1 || strings.Count(log.text(), "\n") != 1 {
		t.Errorf("%s", log.text())
	}
}

// A client that asks for no answer, to have its prompt in the cache, gets none. That
// is no window.
func TestAnAnswerThatNobodyAskedForShowsNoWindow(t *testing.T) {
	p := inFrontOf(t, reports(t, "length", func(n int) (int, int) { return n * 9 / 10, 0 }), calibrating)
	for turn := 1; turn <= 3; turn++ {
		p.chat(strings.Replace(agentBody(20, 100), `{"model"`, `{"max_tokens":1,"model"`, 1))
		if learnt := p.replies(turn)[turn-1].Rewrite.Facts.Window.Value; learnt != 0 {
			t.Errorf("a window of %d", learnt)
		}
	}
}

// What was sent in the place of another is what its answer is held against, a
// slot included.
func TestARetriedRequestWithASlotWasNotCut(t *testing.T) {
	hit := 0
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
		if hit++; hit == 1 {
			says(w, 3300, 2000)
			return
		}
		all := u.requests()
		_, _ = fmt.Fprintf(w, `{"id":"x","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":2}}`, wordsIn(all[len(all)-1].Body)*6/10)
	})
	p := inFrontOf(t, u, calibrating, func(o *Options) {
		o.Default.Policy = &compact.Policy{Name: "x", Ladder: []compact.Stage{telling{}, drop{}}}
	})
	if res := p.chat(agentBody(30, 100)); res.Header.Get("X-Laconic-Outcome") != "retried" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	if r := p.replies(1)[0]; r.Cut || r.Rewrite.Report.After < 500 {
		t.Errorf("cut %v, %d tokens", r.Cut, r.Rewrite.Report.After)
	}
}
