package compact_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/proxy/wire/wiretest"
)

// adaptive is the default policy.
func adaptive() *compact.Policy { return &compact.Policy{Name: "adaptive", Ladder: stage.Default()} }

// TestPromisesHoldOnRealConversations sweeps real conversations, every prefix
// of them a client must have sent, at budgets from a tenth of their cost to all
// of it. LACONIC_SWEEP=full or half sweeps all of them at nine budgets; plain
// go test takes every conversation at one of the nine, in turns. Every other
// sweep is of a policy that may have summaries, and of each four one is of a model
// that signs its thinking and one of an upstream that taught a limit.
func TestPromisesHoldOnRealConversations(t *testing.T) {
	all := wiretest.Conversations(t)
	shares := []int{10, 15, 25, 40, 50, 60, 75, 90, 100}
	whole := os.Getenv("LACONIC_SWEEP") != ""
	var runs, epochs, over, bound int
	for n, rec := range all {
		for i, s := range shares {
			if !whole && (i+n)%9 != 0 || testing.Short() && !rec.Own && n%6 != 0 {
				continue
			}
			in, p := compact.Conversation{Messages: rec.Messages, Fixed: len(rec.Tools) / 4}, adaptive()
			p.Summaries = (n+i)%2 == 1
			if n%4 == 1 {
				in.Messages = signed(rec.Messages)
			}
			cost := in.Fixed + compact.CostAll(compacttest.Bytes{}, in.Messages)
			b := compact.Limits{Budget: max(1, cost*s/100)}.For(0)
			if n%4 > 1 {
				b.Hard, b.Tokens, b.Placing = b.Tokens, cost, cost
			}
			got, broken := compacttest.Sweep(in, p, compacttest.Bytes{}, b)
			for k, err := range broken[:min(4, len(broken))] {
				t.Errorf("%s at %d %%, %d of %d: %v", rec.ID, s, k+1, len(broken), err)
			}
			runs += len(got)
			for _, r := range got {
				if r.Report.Outcome == compact.Over {
					over++
				}
				if slices.ContainsFunc(r.Out, func(m compact.Message) bool { return m.Bound() }) {
					bound++
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
	t.Logf("%d conversations, %d requests, %d epochs, %d over, %d with bound thinking", len(all), runs, epochs, over, bound)
	if bound == 0 {
		t.Error("no bound thinking was sent")
	}
}

// signed returns a conversation as a model writes it that signs its thinking: every
// answer but each fifth carries some.
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

// TestCountsMoveNoEpoch: wherever the counts of an upstream change between two
// requests, what was sent stays a prefix of what is sent next unless an epoch
// starts, and no epoch is undone.
func TestCountsMoveNoEpoch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var rated, epochs int
	for n, rec := range wiretest.Conversations(t) {
		if testing.Short() && !rec.Own && n%12 != 0 {
			continue
		}
		in := compact.Conversation{Messages: rec.Messages, Fixed: len(rec.Tools) / 4}
		for _, k := range compacttest.RequestPoints(rec.Messages) {
			if random.IntN(3) == 0 {
				in.Rates = append(in.Rates, compact.Rate{From: k, Percent: 40 + random.IntN(200), Extra: random.IntN(in.Fixed+1) - in.Fixed/2})
			}
		}
		p := adaptive()
		p.Summaries = n%2 == 1
		cost := in.Fixed + compact.CostAll(compacttest.Bytes{}, in.Messages)
		for i, share := range []int{25, 60} {
			if testing.Short() && (i+n)%2 != 0 {
				continue
			}
			runs, broken := compacttest.Sweep(in, p, compacttest.Bytes{}, compact.Limits{Budget: max(1, cost*share/100)}.For(0))
			for _, err := range broken[:min(3, len(broken))] {
				t.Errorf("%s at %d %%: %v", rec.ID, share, err)
			}
			for _, r := range runs {
				epochs = max(epochs, r.Report.Epochs)
			}
		}
		rated += len(in.Rates)
	}
	if rated < 50 || epochs < 2 {
		t.Errorf("the counts changed %d times, and no conversation has more than %d epochs", rated, epochs)
	}
}
