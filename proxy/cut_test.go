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

// What an upstream dropped without a word does not count for the counter, and
// is named.
func TestPromptsThatFillTheWindowAreNamed(t *testing.T) {
	f := func(name, finish string, window int, usage func(words int) (int, int), want bool) {
		t.Helper()
		var log logged
		u := reports(t, finish, usage)
		p := inFrontOf(t, u, calibrating, func(o *Options) {
			o.Default.Limits = compact.Limits{Window: window, Budget: 50_000}
			o.Listener = LogTo(log.at(zap.InfoLevel))
		})
		for turn := 1; turn <= 30; turn++ {
			p.chat(agentBody(50, 100))
			if r := p.replies(turn)[turn-1]; r.Cut != want || want && isLearnt(r.Rewrite.Facts) {
				t.Fatalf("%s, turn %d: cut %v, %+v", name, turn, r.Cut, r.Rewrite.Facts)
			}
		}
		if got := strings.Contains(log.text(), `"prompt_cut_by_upstream":true`); got != want {
			t.Errorf("%s: the log says %v", name, got)
		}
	}
	const odd = 4001
	f("no room for an answer", "length", 0, func(int) (int, int) { return odd, 0 }, true)
	f("a round window, no answer", "stop", 0, func(int) (int, int) { return 4096, 0 }, true)
	f("a known window", "stop", odd+20, func(int) (int, int) { return odd, 5 }, true)
	f("an answer that was cut", "length", 0, func(int) (int, int) { return odd, 100 }, false)
	f("no answer is counted", "stop", 0, func(n int) (int, int) { return n, 0 }, false)
	f("a window that is far", "stop", 4500, func(int) (int, int) { return odd, 5 }, false)
}

// A longer and longer conversation, of which always the same number is read.
func TestAPlateauIsNamed(t *testing.T) {
	p := inFrontOf(t, reports(t, "stop", func(n int) (int, int) { return min(n*100/105, 4001), 7 }), calibrating)
	cut := false
	for turn := 1; turn <= 40; turn++ {
		p.chat(agentBody(30+turn, 100))
		if r := p.replies(turn)[turn-1]; r.Usage.Prompt == 4001 && cut != r.Cut || r.Cut && r.Usage.Prompt < 4001 || isLearnt(r.Rewrite.Facts) {
			t.Errorf("turn %d, %d tokens: cut %v, %+v", turn, r.Rewrite.Report.After, r.Cut, r.Rewrite.Facts)
		} else {
			cut = r.Usage.Prompt == 4001 // the first of them could be chance
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
