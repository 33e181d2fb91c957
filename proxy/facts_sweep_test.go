package proxy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// Whatever was learnt, every promise of a fold holds: at each prefix of a
// conversation the plan fits, is legal, and begins as the one before it did.
func TestThePromisesHoldUnderAnyFacts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	epochs := 0
	for range 300 {
		facts := Learnt{
			Window: []int{0, 900, 3000}[r.IntN(3)], Input: []int{0, 700, 2000}[r.IntN(3)], Cap: []int{0, 500, 1500}[r.IntN(3)],
			Sums: r.IntN(2) == 0, Answer: []int{0, 300}[r.IntN(2)], Messages: []int{0, 40}[r.IntN(2)],
			Percent: 40 + 2*r.IntN(131), Shape: Shape(r.IntN(2)),
		}
		set := compact.Limits{Window: 100_000}
		if r.IntN(3) == 0 {
			set = compact.Limits{Budget: 1200}
		}
		asked := []int{0, 100, 2000}[r.IntN(3)]
		in := compact.Conversation{Messages: agentMessages(5+r.IntN(40), 5+r.IntN(90))}
		policy := shaped(&compact.Policy{Name: "adaptive", Ladder: []compact.Stage{elide{}, telling{}, drop{}}}, facts.Shape)
		budget := facts.budget(set, asked)
		if set.For(asked).Tokens < budget.Tokens {
			t.Fatalf("%+v raised the budget from %d to %d", facts, set.For(asked).Tokens, budget.Tokens)
		}
		runs, broken := compacttest.Sweep(in, policy, facts.counter(compacttest.Words{}), budget)
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

func TestWhatALimitLeavesForThePrompt(t *testing.T) {
	f := func(facts Learnt, set compact.Limits, asked, budget, accepts int) {
		t.Helper()
		if got := facts.budget(set, asked).Tokens; got != budget {
			t.Errorf("%+v of %+v, asked %d: budget %d, want %d", facts, set, asked, got, budget)
		}
		if got := facts.accepts(set, asked); got != accepts {
			t.Errorf("%+v of %+v, asked %d: accepts %d, want %d", facts, set, asked, got, accepts)
		}
	}
	wide := compact.Limits{Window: 128_000}
	f(Learnt{}, wide, 0, 119_808, 128_000)
	f(Learnt{Window: 4096}, wide, 0, 3072, 4096)
	f(Learnt{Window: 4096}, wide, 2000, 2096, 2096)
	f(Learnt{Window: 4096}, wide, 100_000, 2048, 2048)
	f(Learnt{Window: 4096, Sums: true}, wide, 3000, 1096, 1096)
	f(Learnt{Window: 4096, Sums: true}, wide, 4090, 2048, 6) // no prompt goes with that
	f(Learnt{Window: 4096, Sums: true, Answer: 3000}, wide, 0, 1096, 1096)
	f(Learnt{Window: 1_000_000}, wide, 0, 119_808, 1_000_000) // a larger word raises nothing
	f(Learnt{Input: 2000}, wide, 0, 2000, 2000)
	f(Learnt{Input: 2000}, compact.Limits{Window: 128_000, Input: 1000}, 0, 1000, 1000)
	f(Learnt{Cap: 1000}, wide, 0, 1000, 1000)
	f(Learnt{Cap: 1000, Percent: 120}, wide, 0, 1200, 1200)
	f(Learnt{Window: 4096}, compact.Limits{Budget: 2000}, 0, 2000, 4096)
	f(Learnt{Window: 4096}, compact.Limits{Budget: 24_000}, 0, 3072, 4096)
}
