package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestNoRequestPointBetweenACallAndItsResult: a client whose result came late
// never sent the list that repair makes of what was there before.
func TestNoRequestPointBetweenACallAndItsResult(t *testing.T) {
	var b strings.Builder
	b.WriteString("user: go\nassistant: | call late read x\n")
	for i := range 20 {
		fmt.Fprintf(&b, "assistant: on it | call c%d read y\ntool c%d: one two three four five\n", i, i)
	}
	b.WriteString("tool late: six seven\nassistant: done\nuser: thanks")
	in := compact.Conversation{Messages: list(t, b.String())}
	budget := compact.Limits{Budget: 60}.For(0)
	plan, r := compact.Compact(in, adaptive(), compacttest.Words{}, budget)
	for _, err := range compact.Broken(in, adaptive(), compacttest.Words{}, budget, &plan, r) {
		t.Error(err)
	}
	if len(plan.Epochs) == 0 {
		t.Fatal("no epoch")
	}
	for _, e := range plan.Epochs {
		if e.At < 43 { // the answer behind the late result
			t.Errorf("an epoch at %d, where the result that was moved to index 2 had not come", e.At)
		}
	}
}
