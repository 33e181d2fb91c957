package compact_test

import (
	"os"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// adaptive is the default policy.
func adaptive() *compact.Policy { return &compact.Policy{Name: "adaptive", Ladder: stage.Default()} }

// TestPromisesHoldOnRealConversations sweeps real conversations, every prefix
// of them a client must have sent, at budgets from a tenth of their cost to all
// of it. LACONIC_SWEEP=full or half sweeps all of them at nine budgets; plain
// go test takes every conversation at one of the nine, in turns. Every other
// sweep is of a policy that may have summaries.
func TestPromisesHoldOnRealConversations(t *testing.T) {
	all := compacttest.Conversations(t)
	shares := []int{10, 15, 25, 40, 50, 60, 75, 90, 100}
	whole := os.Getenv("LACONIC_SWEEP") != ""
	var runs, epochs, over int
	for n, rec := range all {
		in := compact.Conversation{Messages: rec.Messages, Fixed: len(rec.Tools) / 4}
		cost := in.Fixed + compact.CostAll(compacttest.Bytes{}, in.Messages)
		for i, s := range shares {
			if !whole && (i+n)%9 != 0 || testing.Short() && !rec.Own && n%6 != 0 {
				continue
			}
			b := compact.Limits{Budget: max(1, cost*s/100)}.For(0)
			p := adaptive()
			p.Summaries = (n+i)%2 == 1
			got, broken := compacttest.Sweep(in, p, compacttest.Bytes{}, b)
			for k, err := range broken {
				if k == 3 {
					t.Errorf("%s at %d %%: and %d more", rec.ID, s, len(broken)-k)
					break
				}
				t.Errorf("%s at %d %%: %v", rec.ID, s, err)
			}
			runs += len(got)
			for _, r := range got {
				if r.Report.Outcome == compact.Over {
					over++
				}
			}
			if len(got) > 0 {
				epochs += got[len(got)-1].Report.Epochs
			}
			if t.Failed() && runs > 5000 {
				t.Fatal("stopped after the first failures")
			}
		}
	}
	t.Logf("%d conversations, %d requests, %d epochs, %d over", len(all), runs, epochs, over)
}
