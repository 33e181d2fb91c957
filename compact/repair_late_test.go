package compact_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/promises"
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
	budget := compact.Limits{Budget: 60}.For(0)
	plan, r := compact.Compact(in, adaptive(), compacttest.Words{}, budget)
	for _, err := range promises.Broken(in, adaptive(), compacttest.Words{}, budget, &plan, r) {
		t.Error(err)
	}
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
	for _, rec := range compacttest.Conversations(t) {
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
					msgs = slices.Insert(msgs, to, answer("one moment"))
				}
				moved++
			}
			for i := range msgs {
				msgs[i].Origin = i
			}
			in := compact.Conversation{Messages: msgs}
			for _, mode := range []compact.RepairMode{compact.RepairAnswer, compact.RepairDrop} {
				p := &compact.Policy{Repair: mode}
				plan, r := compact.Compact(in, p, compacttest.Bytes{}, compact.Limits{}.For(0))
				for _, err := range promises.Broken(in, p, compacttest.Bytes{}, compact.Limits{}.For(0), &plan, r) {
					t.Errorf("%s, %s: %v", rec.ID, mode, err)
				}
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

// TestPromisesHoldWhereTextFollowsCalls sweeps recorded conversations as Codex
// writes them: the text that the model wrote with its calls is a message of its
// own between the calls and their results.
func TestPromisesHoldWhereTextFollowsCalls(t *testing.T) {
	for n, rec := range compacttest.Conversations(t) {
		if n%12 != 0 {
			continue
		}
		var msgs []compact.Message
		for _, m := range rec.Messages {
			said := m.Role == compact.Assistant && len(m.Calls) > 0
			words := answer("one moment")
			if said && len(m.Parts) > 0 {
				words.Parts, words.Shape = m.Parts, m.Shape
				m.Parts, m.Shape = nil, compact.Null
			}
			if msgs = append(msgs, m); said {
				msgs = append(msgs, words)
			}
		}
		for i := range msgs {
			msgs[i].Origin = i
		}
		in := compact.Conversation{Messages: msgs}
		cost := compact.CostAll(compacttest.Bytes{}, msgs)
		b := compact.Limits{Budget: max(1, cost*[]int{15, 40, 75}[n/12%3]/100)}.For(0)
		runs, broken := compacttest.Sweep(in, adaptive(), compacttest.Bytes{}, b)
		for _, err := range broken {
			t.Fatalf("%s: %v", rec.ID, err)
		}
		for _, r := range runs {
			if r.Report.ResultsDropped > 0 || strings.Contains(compacttest.Format(r.Out), compact.NoResult) {
				t.Fatalf("%s: a result is lost in the request of %d messages", rec.ID, r.Prefix)
			}
		}
	}
}
