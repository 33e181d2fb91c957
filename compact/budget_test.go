package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/promises"
)

// TestBudgetOfTokensAlone: a number of tokens is a budget, with defaults for the
// rest.
func TestBudgetOfTokensAlone(t *testing.T) {
	in := compact.Conversation{Messages: compacttest.Steps(t, "system: s\nuser: read all files", 40), Fixed: 40}
	for _, tokens := range []int{-1, 0, 1, 100, 3000, 1 << 20} {
		want, wantReport := compact.Compact(in, adaptive(), compacttest.Bytes{}, compact.Budget{Tokens: tokens, Placing: tokens, Step: max(1, tokens/16), Messages: compact.DefaultMaxMessages})
		b := compact.Budget{Tokens: tokens}
		got, report := compact.Compact(in, adaptive(), compacttest.Bytes{}, b)
		if fmt.Sprint(report) != fmt.Sprint(wantReport) || compacttest.Format(got.Apply("")) != compacttest.Format(want.Apply("")) {
			t.Errorf("%d tokens: %+v, want %+v", tokens, report, wantReport)
		}
		if tokens > 0 {
			for _, err := range promises.Broken(in, adaptive(), compacttest.Bytes{}, b, &got, report) {
				t.Errorf("%d tokens: %v", tokens, err)
			}
		}
	}
}

// An inclusive trigger is a cost at which an epoch starts, also where it is no
// whole number of tokens.
func TestAnInclusiveTriggerStartsAtItsShare(t *testing.T) {
	f := func(trigger float64, cost int, want bool) {
		t.Helper()
		msgs := compacttest.Messages(t, "user: go\nassistant: "+strings.TrimSpace(strings.Repeat("a ", cost-1)))
		in := compact.Conversation{Messages: msgs}
		started := false
		p := &compact.Policy{Trigger: trigger, PerRequest: &compact.PerRequest{Inclusive: true, FullLadder: true}, Ladder: []compact.Stage{seen{&started}}}
		compact.Compact(in, p, compacttest.Words{}, compact.Budget{Tokens: 1001})
		if started != want {
			t.Errorf("trigger %v of 1001, cost %d: started %v", trigger, cost, started)
		}
	}
	f(1, 1000, false)
	f(1, 1001, true)
	f(0.8, 800, false) // 800.8
	f(0.8, 801, true)
}

// seen is a stage that records that it ran.
type seen struct{ ran *bool }

func (seen) Name() string { return "seen" }

func (s seen) Shrink(*compact.Draft) { *s.ran = true }
