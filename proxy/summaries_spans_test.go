package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"laconic/compact"
	"laconic/proxy/summarize"
)

// planned is what was planned for the request of turn n, without the texts.
func (r *running) planned(n int) string {
	r.replies(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.sent[n-1]
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", i.Report)
	for _, e := range i.Edits {
		fmt.Fprintln(&b, e.Op, e.Stage, e.Why, e.Origin, e.At, e.End, e.Part, e.Saved, e.Epoch)
	}
	return b.String()
}

// TestAPlanDoesNotDependOnTheStore: with every summary, with none, and with every
// other one, the same edits are made at the same epochs, and the same is charged.
func TestAPlanDoesNotDependOnTheStore(t *testing.T) {
	var tries atomic.Int32
	replies := []http.HandlerFunc{
		tells(answered(told, "stop")),
		tells(answered("no", "stop")), // no summary
		func(w http.ResponseWriter, r *http.Request) {
			text := told
			if tries.Add(1)/2%2 == 0 { // it is asked twice for what it does not tell
				text = "no"
			}
			tells(answered(text, "stop"))(w, r)
		},
	}
	var all []*running
	for _, reply := range replies {
		all = append(all, summarized(t, newUpstream(t, nil), newUpstream(t, reply), func(o *Options) { o.Default.Limits.Budget = 8000 }))
	}
	kinds := map[string]int{}
	spans := 0
	for n := 1; n <= 100; n++ {
		for i, r := range all {
			r.chat(history(n))
			r.quietly()
			if got, want := r.planned(n), all[0].planned(n); got != want {
				t.Fatalf("turn %d, store %d: planned\n%s\nwant\n%s", n, i, got, want)
			}
			s := r.replies(n)[n-1].Rewrite.Summary
			if s == nil {
				continue
			}
			spans = max(spans, s.Spans)
			switch {
			case s.Digests == 0:
				kinds[fmt.Sprint(i, " full")]++
			case s.Digests == s.Spans:
				kinds[fmt.Sprint(i, " empty")]++
			default:
				kinds[fmt.Sprint(i, " some")]++
			}
		}
	}
	if kinds["0 full"] < 50 || kinds["1 empty"] < 50 || kinds["2 some"] < 20 || spans < 4 {
		t.Errorf("%v, %d spans at most: this tests nothing", kinds, spans)
	}
}

// TestASpanIsAddedBehindTheOthers: where an epoch adds to the slot, its text goes
// on where it ended, whoever writes it.
func TestASpanIsAddedBehindTheOthers(t *testing.T) {
	f := func(name string, u *upstream, r *running, leastAnew int) {
		t.Helper()
		slot, added, anew, epochs := "", 0, 0, 0
		for n := 1; n <= 110; n++ {
			r.chat(history(n))
			r.quietly()
			all := u.requests()
			was := slot
			slot = slotOf(t, all[len(all)-1].Body)
			now := r.replies(n)[n-1].Rewrite.Report.Epochs
			switch {
			case slot == was:
			case now == epochs:
				t.Fatalf("%s, turn %d: the slot changed between two epochs", name, n)
			case was != "" && strings.HasPrefix(slot, was):
				added++
			case was != "":
				anew++
			}
			epochs = now
		}
		if added < 3 || anew < leastAnew || added < 3*anew {
			t.Errorf("%s: %d times added to, %d times made anew", name, added, anew)
		}
	}
	u := newUpstream(t, nil)
	f("summaries", u, summarized(t, u, newUpstream(t, tells(answered(told, "stop"))), func(o *Options) { o.Default.Limits.Budget = 8000 }), 1)
	u = newUpstream(t, nil)
	f("digests", u, summarized(t, u, u, func(o *Options) { o.Default.Limits.Budget, o.Summarizer = 8000, nil }), 0)
}

// TestEachSpanHasItsOwnSummary: a conversation that comes with several spans needs
// several summaries at once, and each is made once. The account counts them.
func TestEachSpanHasItsOwnSummary(t *testing.T) {
	u := newUpstream(t, nil)
	r := summarized(t, u, u, waiting, func(o *Options) {
		o.Default.Limits.Budget = 8000
		o.Summarizer.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			text := told
			if strings.Contains(string(body), "line of f1.") {
				text = "no" // the oldest span gets none
			}
			w := httptest.NewRecorder()
			tells(answered(text, "stop"))(w, r)
			return w.Result(), err
		})
	})
	turn := turnWith(t, 8000, 0, func(s *compact.Slot) bool { return len(s.Spans) == 3 })
	res := r.chat(history(turn))
	if got := r.lastSummary(1); got.Outcome != summarize.Digest || got.Spans != 3 || got.Digests != 1 || got.Reason != "short" {
		t.Errorf("%+v", got)
	}
	if stages := res.Header.Get(headerStages); !strings.HasSuffix(stages, "summary;digest;spans=3;digests=1;reason=short") {
		t.Errorf("the header says %q", stages)
	}
	if slot := slotOf(t, u.requests()[0].Body); !strings.HasPrefix(slot, "\n\n[Record of") || strings.Count(slot, "[Summary of") != 2 {
		t.Errorf("the slot holds %s", slot)
	}
	if c := r.SummaryCounts(); c.Jobs != 2 || c.Failed["short"] != 1 || c.Digest["short"] != 1 {
		t.Errorf("%+v", c)
	}
}
