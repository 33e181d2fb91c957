package compact_test

import (
	"fmt"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// adaptive is the default policy.
func adaptive() *compact.Policy { return &compact.Policy{Name: "adaptive", Ladder: stage.Default()} }

// TestPromisesHoldOnRealConversations sweeps every real conversation, every
// prefix a client must have sent, at budgets from a tenth of its cost to all
// of it.
func TestPromisesHoldOnRealConversations(t *testing.T) {
	all := compacttest.Shared(t)
	shares := []int{10, 15, 25, 40, 50, 60, 75, 90, 100}
	if testing.Short() {
		shares = []int{25, 50}
	}
	var runs, epochs, over int
	for _, rec := range all {
		in := compact.Conversation{Messages: rec.Messages, Fixed: len(rec.Tools) / 4}
		whole := in.Fixed + compact.CostAll(compacttest.Bytes{}, in.Messages)
		for _, s := range shares {
			b := compact.Limits{Budget: max(1, whole*s/100)}.For(0)
			got, broken := compacttest.Sweep(in, adaptive(), compacttest.Bytes{}, b)
			for i, err := range broken {
				if i == 3 {
					t.Errorf("%s at %d %%: and %d more", rec.ID, s, len(broken)-i)
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
			if t.Failed() && runs > 20000 {
				t.Fatal("stopped after the first failures")
			}
		}
	}
	t.Log(fmt.Sprintf("%d conversations, %d requests, %d epochs, %d over", len(all), runs, epochs, over))
}
