package learn

import (
	"slices"
	"testing"

	"laconic/compact"
)

// TestAFactIsNamedWhereAPlanDependsOnIt: and a fact that is known, but decides
// nothing, is not.
func TestAFactIsNamedWhereAPlanDependsOnIt(t *testing.T) {
	n := func(v int) Fact[int] { return Fact[int]{Value: v} }
	f := func(facts Facts, budget int, unbind bool, want ...string) {
		t.Helper()
		if got := facts.Decisive(compact.Limits{Window: 100_000, Budget: budget}, 0, 5000, unbind); !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", facts, got, want)
		}
	}
	f(Facts{}, 0, false)
	f(Facts{Window: n(8000)}, 0, false, "window")
	f(Facts{Window: n(8000)}, 2000, false)
	f(Facts{Window: n(8000), Input: n(3000)}, 0, false, "window", "input")
	f(Facts{Together: Fact[bool]{Value: true}}, 0, false) // no answer was asked for
	f(Facts{Messages: n(20), Hard: n(900)}, 0, false, "messages", "hard")
	f(Facts{Bytes: n(6000)}, 0, false)
	f(Facts{Bytes: n(4000), Count: Fact[Count]{Value: Count{Percent: 110}}, Demands: Fact[compact.Demands]{Value: compact.NoSlot}}, 0, false, "bytes", "count", "shape")
	f(Facts{Cuts: []Fact[string]{{Value: "x"}}}, 0, true, "thinking")
}
