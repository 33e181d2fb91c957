package compact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/promises"
)

// thinkingRounds is an agent's history: rounds of 20 words, each with four words
// of bound thinking.
func thinkingRounds(n int, end string) string {
	var b strings.Builder
	b.WriteString("user: read all of it\n")
	for i := range n {
		fmt.Fprintf(&b, "assistant [bound]: now part %d | call c%d read p%d\n", i, i, i)
		fmt.Fprintf(&b, "tool c%d: %s\n", i, strings.Repeat("w ", 12))
	}
	return b.String() + end
}

// plan compacts a transcript and checks the promises.
func planOf(t *testing.T, in compact.Conversation, p *compact.Policy, b compact.Budget) (compact.Plan, []compact.Message) {
	t.Helper()
	plan, _ := compacttest.Compacted(t, in, p, compacttest.Words{}, b)
	return plan, plan.Apply("")
}

func boundIn(msgs []compact.Message) (origins []int) {
	for i := range msgs {
		if msgs[i].Bound() {
			origins = append(origins, msgs[i].Origin)
		}
	}
	return origins
}

func ats(epochs []compact.Epoch) (at []int) {
	for _, e := range epochs {
		at = append(at, e.At)
	}
	return at
}

// TestThinkingLeavesAtAnEpoch: pinned and recent messages included, and at every
// later request, until the next epoch.
func TestThinkingLeavesAtAnEpoch(t *testing.T) {
	p := adaptive()
	p.Pins.Messages = []int{1}
	b := compact.Limits{Budget: 120}.For(0)
	last := 0
	for n := 1; n <= 14; n++ {
		in := compact.Conversation{Messages: compacttest.Messages(t, thinkingRounds(n, "user: and\n"))}
		plan, out := planOf(t, in, p, b)
		if len(plan.Epochs) == 0 {
			if got := boundIn(out); len(got) != n {
				t.Errorf("%d rounds without an epoch: thinking in %v", n, got)
			}
			continue
		}
		last = plan.Epochs[len(plan.Epochs)-1].At
		for i := range in.Messages {
			if m := &in.Messages[i]; m.Bound() && slices.Contains(boundIn(out), i) != (i >= last) {
				t.Errorf("%d rounds, epoch at %d: thinking in %v", n, last, boundIn(out))
			}
		}
		if out[1].Origin != 1 || out[1].Bound() || out[1].Reasoning.Len() > 0 || out[1].Seal != 0 || !strings.Contains(compacttest.Format(out[1:2]), "now part 0 | call c0 read p0") {
			t.Errorf("the pinned message became %s", compacttest.Format(out[1:2]))
		}
	}
	if last == 0 {
		t.Fatal("no epoch")
	}
}

// TestWithinATurnOnlyWhatDoesNotFitMakesAnEpoch: the upstream may want thinking
// of the turn back in which the model is.
func TestWithinATurnOnlyWhatDoesNotFitMakesAnEpoch(t *testing.T) {
	at := func(transcript string, budget int) int {
		p := adaptive()
		p.Trigger = 0.8
		plan, _ := planOf(t, compact.Conversation{Messages: compacttest.Messages(t, transcript)}, p, compact.Limits{Budget: budget}.For(0))
		return len(plan.Epochs)
	}
	open := thinkingRounds(40, "") // some 800 words
	cost := compact.CostAll(compacttest.Words{}, compacttest.Messages(t, open))
	f := func(name, transcript string, budget, want int) {
		t.Helper()
		if got := at(transcript, budget); got != want {
			t.Errorf("%s: %d epochs, want %d", name, got, want)
		}
	}
	f("in a turn, above the trigger", open, cost+8, 0)
	f("in a turn, at the budget", open, cost, 0)
	f("in a turn, above the budget", open, cost-1, 1)
	f("a user spoke, above the trigger", open+"user: go on\n", cost+8, 1)
	f("thinking that is bound to nothing", strings.ReplaceAll(open, "[bound]", "[sealed]"), cost-10, 1)
}

// TestWhatWasLearntAddsEpochs: above Hard there is one, and those that the budget
// places stay where they are.
func TestWhatWasLearntAddsEpochs(t *testing.T) {
	in := compact.Conversation{Messages: compacttest.Messages(t, thinkingRounds(30, "user: and\n"))}
	b := compact.Limits{Budget: 200}.For(0)
	base, _ := planOf(t, in, adaptive(), b)
	b.Hard = 199
	same, _ := planOf(t, in, adaptive(), b)
	b.Hard = 150
	less, out := planOf(t, in, adaptive(), b)
	if !slices.Equal(ats(base.Epochs), ats(same.Epochs)) || len(less.Epochs) <= len(base.Epochs) {
		t.Errorf("epochs at %v, under a limit of 199 at %v, of 150 at %v", ats(base.Epochs), ats(same.Epochs), ats(less.Epochs))
	}
	if n := compact.CostAll(compacttest.Words{}, out); n > 150 {
		t.Errorf("%d tokens are left", n)
	}
	// One that is reached once makes one epoch, at the end.
	in.Messages = compacttest.Messages(t, thinkingRounds(6, "user: and one more thing\n"))
	b = compact.Limits{}.For(0)
	b.Hard = compact.CostAll(compacttest.Words{}, in.Messages) - 1
	if plan, _ := planOf(t, in, adaptive(), b); !slices.Equal(ats(plan.Epochs), []int{len(in.Messages)}) {
		t.Errorf("epochs at %v", ats(plan.Epochs))
	}
}

// TestWhatAnEarlierRequestTookOutStaysOut: and the epochs before that stay where
// they were.
func TestWhatAnEarlierRequestTookOutStaysOut(t *testing.T) {
	b := compact.Limits{Budget: 400}.For(0)
	in := compact.Conversation{Messages: compacttest.Messages(t, thinkingRounds(24, ""))}
	base, out := planOf(t, in, adaptive(), b)
	had := boundIn(out)
	if len(base.Epochs) == 0 || len(had) < 3 {
		t.Fatalf("%d epochs, thinking in %v", len(base.Epochs), had)
	}
	in.Unbind = had[1] + 1
	cut, out := planOf(t, in, adaptive(), b)
	if got := boundIn(out); !slices.Equal(got, had[2:]) {
		t.Errorf("thinking is left in %v, want %v", got, had[2:])
	}
	if !slices.Equal(ats(base.Epochs), ats(cut.Epochs)) {
		t.Errorf("epochs moved from %v to %v", ats(base.Epochs), ats(cut.Epochs))
	}
	in = compact.Conversation{Messages: compacttest.Messages(t, thinkingRounds(2, "")), Unbind: 4}
	if plan, out := planOf(t, in, adaptive(), b); len(plan.Epochs) != 0 || len(boundIn(out)) != 0 {
		t.Errorf("%d epochs, thinking in %v", len(plan.Epochs), boundIn(out))
	}
}

// TestBrokenSeesThinkingThatIsMisplaced: the checker is worth nothing if it holds
// for anything.
func TestBrokenSeesThinkingThatIsMisplaced(t *testing.T) {
	in := compact.Conversation{Messages: compacttest.Messages(t, thinkingRounds(24, ""))}
	p, b := adaptive(), compact.Limits{Budget: 400}.For(0)
	made, r := compact.Compact(in, p, compacttest.Words{}, b)
	f := func(what, want string, plan *compact.Plan) {
		t.Helper()
		errs := promises.Broken(in, p, compacttest.Words{}, b, plan, r)
		if !slices.ContainsFunc(errs, func(err error) bool { return strings.Contains(err.Error(), want) }) {
			t.Errorf("%s: %v", what, errs)
		}
	}
	f("thinking from before an epoch", "bound to what stood before an epoch", made.With(func(msgs []compact.Message) {
		for i := range msgs {
			msgs[i] = in.Messages[msgs[i].Origin]
		}
	}))
	f("a piece of the middle", "missing from the middle", made.With(func(msgs []compact.Message) {
		had := boundIn(msgs)
		for i := range msgs {
			if msgs[i].Origin == had[1] {
				msgs[i] = msgs[i].Unbound()
			}
		}
	}))
	early := made
	early.Epochs = slices.Clone(made.Epochs)
	for i := range early.Epochs {
		early.Epochs[i].Before = early.Epochs[i].Budget
	}
	f("within a turn, though it fits", "within a turn", &early)
}

// TestNoEpochWithinAnAnswer: an answer that a client keeps as several messages was
// written after one request, to which its thinking is bound, in whichever of them
// it is; and no late result moves to before it.
func TestNoEpochWithinAnAnswer(t *testing.T) {
	var b strings.Builder
	b.WriteString("user: read all of it\n")
	for i := range 40 {
		fmt.Fprintf(&b, "assistant: %s| call c%d read p\nuser: wait\n", strings.Repeat("w ", 4), i)
		fmt.Fprintf(&b, "assistant: %s\nassistant [bound]: part %d\nassistant: so\n", strings.Repeat("w ", 15), i)
		fmt.Fprintf(&b, "tool c%d: %d\nuser: go on\n", i, i)
	}
	in := compact.Conversation{Messages: compacttest.Messages(t, b.String())}
	runs, broken := compacttest.Sweep(in, adaptive(), compacttest.Words{}, compact.Limits{Budget: 200}.For(0))
	for _, err := range broken {
		t.Error(err)
	}
	if n := runs[len(runs)-1].Report.Epochs; n < 3 {
		t.Errorf("%d epochs: this tests nothing", n)
	}
}
