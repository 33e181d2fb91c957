package proxy

import (
	"slices"
	"strings"
	"testing"

	"laconic/proxy/summarize"
)

// TestASummaryThatComesLateDoesNotMoveThinking: thinking is bound to the slot's
// text as it was sent. A digest stays one until the next epoch; the summary that
// is ready at an epoch is taken, and stays.
func TestASummaryThatComesLateDoesNotMoveThinking(t *testing.T) {
	u, model := newUpstream(t, nil), newUpstream(t, tells(answered(told, "stop")))
	r := summarized(t, u, model, func(o *Options) { o.Default.Limits.Budget = 8000 })
	signed := func(n int) string {
		return strings.ReplaceAll(history(n), `"content":null,`, `"content":null,"thinking_blocks":[{"type":"thinking","thinking":"so it is","signature":"Eq"}],`)
	}
	var then []string
	epochs, late, hits := 0, 0, 0
	const first = 50
	for n := first; n <= 110; n++ { // its first request is above the trigger: no summary is ready
		if res := r.chat(signed(n)); res.StatusCode != 200 {
			t.Fatalf("turn %d: %s", n, res.body)
		}
		r.quietly() // now one is
		all := u.requests()
		now := sentMessages(t, all[len(all)-1].Body)
		info := r.replies(n - first + 1)[n-first].Rewrite
		if info.Report.Epochs == epochs && !slices.Equal(now[:min(len(then), len(now))], then) {
			t.Fatalf("turn %d: what was sent is no prefix of what is sent", n)
		}
		if s := info.Summary; s != nil && s.Reason == "bound" {
			late++
		} else if s != nil && s.Outcome == summarize.Hit {
			hits++
		}
		epochs, then = info.Report.Epochs, now
	}
	if late == 0 || hits == 0 || epochs < 3 {
		t.Errorf("%d epochs, %d digests kept, %d summaries: this tests nothing", epochs, late, hits)
	}
}
