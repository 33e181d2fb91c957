package learn

import (
	"testing"

	"laconic/compact"
)

// TestTheRoomForAnAnswerIsWhatWasAskedFor: beside a window that the upstream
// stated, a request that says how long its answer may be keeps just that.
func TestTheRoomForAnAnswerIsWhatWasAskedFor(t *testing.T) {
	stated := Facts{Window: Fact[int]{Value: 16_000}}
	f := func(set compact.Limits, asked, want int) {
		t.Helper()
		if got := stated.Budget(set, asked).Tokens; got != want {
			t.Errorf("%+v, %d asked for: a budget of %d, want %d", set, asked, got, want)
		}
	}
	f(compact.Limits{}, 2000, 14_000)
	f(compact.Limits{}, 0, 12_000)
	f(compact.Limits{}, 9000, 8000)
	f(compact.Limits{Reserve: 3000}, 2000, 13_000)
	f(compact.Limits{Budget: 10_000}, 2000, 10_000)
}
