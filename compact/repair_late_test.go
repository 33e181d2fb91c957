package compact_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy/wire/wiretest"
)

// TestNoRequestPointBetweenACallAndItsResult: a client whose result came late
// never sent the list that repair makes of the messages before it.
func TestNoRequestPointBetweenACallAndItsResult(t *testing.T) {
	var b strings.Builder
	b.WriteString("user: go\nassistant: | call late read x\n")
	for i := range 20 {
		fmt.Fprintf(&b, "assistant: on it | call c%d read y\ntool c%d: one two three four five\n", i, i)
	}
	b.WriteString("tool late: six seven\nassistant: done\nuser: thanks")
	in := compact.Conversation{Messages: compacttest.Messages(t, b.String())}
	plan, _ := compacttest.Compacted(t, in, adaptive(), compacttest.Words{}, compact.Limits{Budget: 60}.For(0))
	if len(plan.Epochs) == 0 {
		t.Fatal("no epoch")
	}
	for _, e := range plan.Epochs {
		if e.At < 43 { // the answer after the late result
			t.Errorf("an epoch at %d, where the result that was moved to index 2 had not come", e.At)
		}
	}
}

// TestResultsFindTheirCallsInRealConversations moves results of recorded
// conversations to other places, with words of users and models in between.
// Broken checks that a result whose id is in one call and no other result
// follows that call as it came.
func TestResultsFindTheirCallsInRealConversations(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	moved := 0
	for _, rec := range wiretest.Conversations(t) {
		for range 12 {
			msgs := slices.Clone(rec.Messages)
			for range 1 + chance.IntN(6) {
				from := chance.IntN(len(msgs))
				if !msgs[from].Role.Result() {
					continue
				}
				m, to := msgs[from], chance.IntN(len(msgs))
				msgs = slices.Insert(slices.Delete(msgs, from, from+1), to, m)
				if chance.IntN(2) == 0 {
					msgs = slices.Insert(msgs, to, say(compact.Assistant, "one moment"))
				}
				moved++
			}
			in := compact.Conversation{Messages: compacttest.Numbered(msgs)}
			for _, mode := range []compact.RepairMode{compact.RepairAnswer, compact.RepairDrop} {
				compacttest.Compacted(t, in, &compact.Policy{Repair: mode}, compacttest.Bytes{}, compact.Limits{}.For(0), rec.ID, mode)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if moved < 100 {
		t.Errorf("only %d results were moved", moved)
	}
}
