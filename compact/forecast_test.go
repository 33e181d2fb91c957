package compact_test

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// rounds returns a task and n calls, each with a result of that many words.
func rounds(n, words int) compact.Conversation {
	var b strings.Builder
	b.WriteString("system: be brief\nuser: do it\n")
	for i := range n {
		id := "c" + strings.Repeat("x", i)
		b.WriteString("assistant: | call " + id + " run it\ntool " + id + ":" + strings.Repeat(" word", words) + "\n")
	}
	msgs, err := compacttest.Parse(b.String())
	if err != nil {
		panic(err)
	}
	return compact.Conversation{Messages: msgs}
}

// TestTheNextGapIsKnownPastTheWarmMark, not before it, and stays the same until
// the epoch, whatever arrives.
func TestTheNextGapIsKnownPastTheWarmMark(t *testing.T) {
	all := rounds(120, 100)
	p := &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Summaries: true}
	b := compact.Limits{Budget: 3000}.For(0)
	var before *compact.Slot
	forecast, quiet, met, absorbed := 0, 0, 0, 0
	for _, k := range compacttest.RequestPoints(all.Messages) {
		in := compact.Conversation{Messages: all.Messages[:k]}
		plan, r := compact.Compact(in, p, compacttest.Words{}, b)
		if s := plan.Slot; s != nil && before != nil && s.End == len(in.Messages) {
			met++
			if s.From != before.From || s.To != before.To {
				t.Errorf("at %d the slot is [%d, %d), forecast was [%d, %d)", k, s.From, s.To, before.From, before.To)
			}
			last := len(s.Spans) - 1
			if n := len(s.Runs(last)); n != len(s.Spans[last].Earlier)+1 {
				t.Errorf("at %d: %d runs of messages", k, n)
			}
			absorbed = max(absorbed, len(s.Spans[last].Earlier))
			before = nil
		}
		mark, s := plan.Forecast()
		if mark == 0 {
			quiet++
			continue
		}
		forecast++
		if r.After <= b.Placing/2 {
			t.Errorf("at %d a request of %d tokens is past the warm mark", k, r.After)
		}
		if s == nil {
			t.Fatalf("at %d a climb would need no slot", k)
		}
		if before != nil && (s.From != before.From || s.To != before.To || s.Size != before.Size) {
			t.Errorf("at %d the gap moved from [%d, %d) to [%d, %d)", k, before.From, before.To, s.From, s.To)
		}
		before = s
	}
	if forecast == 0 || quiet == 0 || met < 3 || absorbed < 2 {
		t.Errorf("forecast %d times, %d times not, %d epochs met their forecast, %d runs absorbed", forecast, quiet, met, absorbed)
	}
}
