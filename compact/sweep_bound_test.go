package compact_test

import (
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// signed is a real conversation as a model writes it that signs its thinking:
// every answer but each fifth carries some.
func signed(msgs []compact.Message) []compact.Message {
	msgs = slices.Clone(msgs)
	for i := range msgs {
		if m := &msgs[i]; m.Role == compact.Assistant && i%5 != 3 {
			m.Seal |= compact.SealBound
			m.Reasoning = compact.Plain(strings.Repeat("I have to look at it first. ", 1+i*7%40))
		}
	}
	return msgs
}

// TestBoundThinkingFollowsItsPrefix sweeps recorded conversations
// with signed thinking, at budgets from a tenth of their cost to nine tenths, and
// with a learnt limit. Sweep compares the prefix of every piece of thinking that
// is sent with what was sent when it was written.
func TestBoundThinkingFollowsItsPrefix(t *testing.T) {
	shares := []int{10, 15, 25, 40, 50, 60, 75, 90}
	var runs, epochs, kept int
	all := compacttest.Conversations(t)
	every := max(1, len(all)/32) // of many conversations some
	if testing.Short() {
		every *= 4
	}
	for n := 0; n*every < len(all); n++ {
		rec := all[n*every]
		in := compact.Conversation{Messages: signed(rec.Messages), Fixed: len(rec.Tools) / 4}
		cost := in.Fixed + compact.CostAll(compacttest.Bytes{}, in.Messages)
		share := shares[n%len(shares)]
		b := compact.Limits{Budget: max(1, cost*share/100)}.For(0)
		if n%2 == 1 {
			b.Hard, b.Tokens, b.Placing = b.Tokens, cost, cost
		}
		got, broken := compacttest.Sweep(in, adaptive(), compacttest.Bytes{}, b)
		for k, err := range broken {
			if k == 3 {
				t.Errorf("%s at %d %%: and %d more", rec.ID, share, len(broken)-k)
				break
			}
			t.Errorf("%s at %d %%: %v", rec.ID, share, err)
		}
		if t.Failed() {
			t.FailNow()
		}
		runs += len(got)
		if len(got) > 0 {
			epochs += got[len(got)-1].Report.Epochs
		}
		for _, r := range got {
			for i := range r.Out {
				if r.Out[i].Bound() {
					kept++
				}
			}
		}
	}
	t.Logf("%d requests, %d epochs, %d pieces of thinking were sent", runs, epochs, kept)
	if !testing.Short() && (epochs < 20 || kept < 200) {
		t.Error("that is too little to show anything")
	}
}
