package proxy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"

	"laconic/proxy/learn"
)

// Whatever was learnt, every promise of a fold holds: at each prefix of a
// conversation the plan fits, is legal, and begins as the one before it did.
func TestThePromisesHoldUnderAnyFacts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	epochs := 0
	for range 300 {
		facts := learn.Facts{
			Window: learn.Fact[int]{Value: []int{0, 900, 3000}[r.IntN(3)]}, Input: learn.Fact[int]{Value: []int{0, 500, 700, 2000}[r.IntN(4)]},
			Messages: learn.Fact[int]{Value: []int{0, 40}[r.IntN(2)]}, Count: learn.Fact[learn.Count]{Value: learn.Count{Percent: 40 + 2*r.IntN(131)}},
			Demands: learn.Fact[compact.Demands]{Value: compact.Demands(r.IntN(int(compact.NoSlot) << 1))},
		}
		set := compact.Limits{Window: 100_000}
		if r.IntN(3) == 0 {
			set = compact.Limits{Budget: 1200}
		}
		asked := []int{0, 100, 2000}[r.IntN(3)]
		in := compact.Conversation{Messages: compacttest.Messages(t, agentSteps(5+r.IntN(40), 5+r.IntN(90)))}
		policy := &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{elide{}, saying("digest"), drop{}}, Demands: facts.Demands.Value}
		budget := facts.Budget(set, asked)
		if set.For(asked).Tokens < budget.Tokens {
			t.Fatalf("%+v raised the budget from %d to %d", facts, set.For(asked).Tokens, budget.Tokens)
		}
		runs, broken := compacttest.Sweep(in, policy, facts.Counter(compacttest.Words{}), budget)
		for _, err := range broken {
			t.Errorf("%+v, budget %+v: %v", facts, budget, err)
		}
		for i := range runs {
			epochs += len(runs[i].Plan.Epochs)
		}
	}
	if epochs < 1000 {
		t.Errorf("only %d epochs: hardly anything was folded", epochs)
	}
}

// agentSteps is the transcript of n rounds of an agent, with results of size words.
func agentSteps(n, size int) string {
	var b strings.Builder
	b.WriteString("system: be brief\nuser: read the files\n")
	for i := range n {
		fmt.Fprintf(&b, "assistant: | call c%[1]d read {\"path\": \"f\"}\ntool c%[1]d: %[2]*[1]d%[3]s\n", i, size, strings.Repeat(" word", size))
		if i%7 == 6 {
			b.WriteString("assistant: done so far\nuser: go on\n")
		}
	}
	return b.String()
}
