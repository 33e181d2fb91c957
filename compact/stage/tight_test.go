package stage_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// said is a text of n words.
func said(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d_ ", i)
	}
	return strings.TrimSpace(b.String())
}

// requests compacts every prefix of a transcript that a client would have
// sent, under a budget of words, and checks the promises on each.
func requests(t *testing.T, transcript string, budget int) (last compact.Plan, report compact.Report) {
	t.Helper()
	msgs := compacttest.Messages(t, transcript)
	p := &compact.Policy{Name: "adaptive", Ladder: stage.Default()}
	b := compact.Limits{Budget: budget}.For(0)
	for k := range msgs {
		if k+1 < len(msgs) && msgs[k+1].Role != compact.Assistant {
			continue
		}
		in := compact.Conversation{Messages: msgs[: k+1 : k+1]}
		last, report = compacttest.Compacted(t, in, p, compacttest.Words{}, b)
	}
	return last, report
}

// An exchange that only fits without all of the record gets its room: what is
// recent says more than what is not.
func TestTheRecordGivesWayToTheNewestExchange(t *testing.T) {
	early := "user: the task\n"
	for i := range 6 {
		early += fmt.Sprintf("assistant: | call a%d read f%d.go\ntool a%d: %s\n", i, i, i, said(100))
	}
	before, r := requests(t, early, 400)
	if before.Slot == nil || r.Outcome != compact.Compacted {
		t.Fatalf("no record to begin with: %+v", r)
	}
	plan, r := requests(t, early+"assistant: "+said(262)+" | call b read g.go\ntool b: "+said(100)+"\n", 400)
	switch {
	case r.After > r.Budget:
		t.Errorf("%d of %d tokens: over", r.After, r.Budget)
	case plan.Slot != nil && plan.Slot.Size >= before.Slot.Size:
		t.Errorf("the record keeps its %d tokens", plan.Slot.Size)
	case plan.Apply("")[1].Role != compact.Assistant:
		t.Error("the newest exchange left")
	}
}

// The newest exchange stays also where it fits alone, but not behind the
// question that it answers.
func TestTheNewestExchangeStaysBehindALongQuestion(t *testing.T) {
	list := "user: the task\nassistant: " + said(120) + "\nuser: " + said(150) + "\nassistant: " + said(180) + " | call b read g.go\ntool b: ok\n"
	plan, r := requests(t, list, 400)
	if r.After > r.Budget {
		t.Errorf("%d of %d tokens: over", r.After, r.Budget)
	}
	out := plan.Apply("")
	if last := out[len(out)-1]; last.Role != compact.Tool || last.Origin != 4 {
		t.Errorf("the list ends with message %d (%s), not with the newest result", last.Origin, last.Role)
	}
	requests(t, list+"assistant: done\nuser: next\n", 400)
}

// Where what must stay is above the budget nothing fits, and a small record
// does no harm: the upstream may take the request all the same.
func TestWhatCannotFitIsNotForgottenWhole(t *testing.T) {
	list := "user: " + said(1200) + "\n"
	for i := range 6 {
		list += fmt.Sprintf("assistant: | call a%d read f%d.go\ntool a%d: %s\n", i, i, i, said(100))
	}
	plan, r := requests(t, list, 1000)
	if r.Outcome != compact.Over {
		t.Errorf("%s, not over", r.Outcome)
	}
	if plan.Slot == nil || plan.Slot.Size > 125 {
		t.Fatalf("slot %+v, want one of at most an eighth of the budget", plan.Slot)
	}
	if text := plan.Slot.Digest(); !strings.Contains(text, "f0.go") {
		t.Errorf("the record does not name a file: %q", text)
	}
}

// Results of the newest calls that do not fit beside the record stay whole in half of
// what is kept for the answer, unless nothing may be above the budget.
func TestTheNewestResultsComeBeforeTheReserve(t *testing.T) {
	list := "user: the task\n"
	for i := range 6 {
		list += fmt.Sprintf("assistant: | call a%d read f%d.go\ntool a%d: %s\n", i, i, i, said(100))
	}
	msgs := compacttest.Messages(t, list+"assistant: | call b read g.go\ntool b: "+said(1200)+"\n")
	b := compact.Limits{Window: 1600}.For(0)
	for _, rejects := range []bool{false, true} {
		in, p := compact.Conversation{Messages: msgs}, &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Reject: rejects}
		plan, r := compacttest.Compacted(t, in, p, compacttest.Words{}, b)
		out := plan.Apply("")
		whole := out[len(out)-1].Parts[0].Text.String() == msgs[len(msgs)-1].Parts[0].Text.String()
		if whole == rejects || r.Outcome != compact.Compacted || rejects && r.Budget != b.Tokens || !rejects && (r.Budget <= b.Tokens || r.Budget > 1410) {
			t.Errorf("rejects %v: whole %v, %s, %d of %d tokens", rejects, whole, r.Outcome, r.After, r.Budget)
		}
	}
}

// The newest result is not cut where the request fits with it whole. A fold takes what is
// sent beside the messages for up to an eighth more than it costs.
func TestTheNewestResultIsNotCutForNothing(t *testing.T) {
	list := "user: the task\n"
	for i := range 6 {
		list += fmt.Sprintf("assistant: | call a%d read f%d.go\ntool a%d: %s\n", i, i, i, said(60))
	}
	cut := 0
	for _, limits := range []compact.Limits{{Budget: 2000}, {Window: 2400}, {Window: 2400, Reserve: 300}} {
		for fixed := 1025; fixed < 1200; fixed += 31 {
			for n := 500; n < 1300; n += 23 {
				msgs := compacttest.Messages(t, list+"assistant: | call b read g.go\ntool b: "+said(n)+"\n")
				in, p, b := compact.Conversation{Messages: msgs, Fixed: fixed}, &compact.Policy{Name: "adaptive", Ladder: stage.Default()}, limits.For(0)
				plan, r := compacttest.Compacted(t, in, p, compacttest.Words{}, b)
				out := plan.Apply("")
				less := compact.CostAll(compacttest.Words{}, msgs[len(msgs)-1:]) - compact.CostAll(compacttest.Words{}, out[len(out)-1:])
				if less > 0 {
					cut++
				}
				if less > 0 && r.After+less <= r.Budget {
					t.Errorf("%+v, fixed %d, a result of %d: cut by %d, and %d of %d tokens are sent", limits, fixed, n, less, r.After, r.Budget)
				}
			}
		}
	}
	if cut < 20 {
		t.Errorf("%d results were cut: the test shows little", cut)
	}
}
