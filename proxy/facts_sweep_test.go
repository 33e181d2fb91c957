package proxy

import (
	"fmt"
	"math/rand/v2"
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
			Shape: learn.Fact[compact.Demands]{Value: compact.Demands(r.IntN(int(compact.NoSlot) << 1))},
		}
		set := compact.Limits{Window: 100_000}
		if r.IntN(3) == 0 {
			set = compact.Limits{Budget: 1200}
		}
		asked := []int{0, 100, 2000}[r.IntN(3)]
		in := compact.Conversation{Messages: agentMessages(5+r.IntN(40), 5+r.IntN(90))}
		policy := &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{elide{}, saying("digest"), drop{}}, Demands: facts.Shape.Value}
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

// agentMessages is an agent's history of n rounds with results of size words.
func agentMessages(n, size int) []compact.Message {
	text := func(role compact.Role, s string) compact.Message {
		return compact.Message{Role: role, Shape: compact.String, Parts: []compact.Part{{Kind: compact.KindText, Text: compact.Plain(s)}}}
	}
	msgs := []compact.Message{text(compact.System, "be brief"), text(compact.User, "read the files")}
	for i := range n {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, compact.Message{Role: compact.Assistant, Calls: []compact.Call{{ID: id, Name: "read", Arguments: compact.Plain(`{"path": "f"}`)}}})
		result := text(compact.Tool, fmt.Sprintf("%*d", size, i))
		for range size {
			s, _ := result.Parts[0].Text.Source()
			result.Parts[0].Text = compact.Plain(s + " word")
		}
		result.Answers = id
		msgs = append(msgs, result)
		if i%7 == 6 {
			msgs = append(msgs, text(compact.Assistant, "done so far"), text(compact.User, "go on"))
		}
	}
	for i := range msgs {
		msgs[i].Origin = i
	}
	return msgs
}
