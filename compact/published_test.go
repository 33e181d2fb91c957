package compact_test

import (
	"testing"

	"laconic/compact"
)

// A published limit of the prompt is not the window: an answer takes nothing
// from it while the window has room for both.
func TestBudgetsUnderPublishedLimits(t *testing.T) {
	f := func(name string, l compact.Limits, published compact.Published, answer, want int) {
		t.Helper()
		l = l.With(published)
		l.Together = true
		if got := l.For(answer).Tokens; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	gpt5 := compact.Limits{Window: 400_000, Input: 272_000}
	unknown := compact.Limits{Window: 128_000}
	f("nothing", gpt5, compact.Published{}, 128_000, 272_000)
	f("gpt-5 behind LiteLLM", gpt5, compact.Published{Input: 272_000}, 128_000, 272_000)
	f("a prompt limit below a window that is guessed", unknown, compact.Published{Input: 30_000}, 15_000, 30_000)
	f("the same in front of the default", compact.Limits{}, compact.Published{Input: 30_000}, 15_000, 30_000)
	f("both (TGI)", unknown, compact.Published{Window: 12_000, Input: 8000}, 4000, 8000)
	f("both, and an answer that needs more", unknown, compact.Published{Window: 12_000, Input: 8000}, 6000, 6000)
	f("a prompt limit that is the window", unknown, compact.Published{Input: 128_000}, 28_000, 100_000)
	f("one above a window that is guessed", unknown, compact.Published{Input: 200_000}, 50_000, 150_000)
	f("one above the default", compact.Limits{}, compact.Published{Input: 200_000}, 50_000, 150_000)
	f("a small window", gpt5, compact.Published{Window: 9000}, 0, 6750)
	f("the window of the model", gpt5, compact.Published{Window: 400_000}, 0, 272_000)
	f("a prompt limit that somebody set lower", compact.Limits{Window: 400_000, Input: 100_000}, compact.Published{Input: 272_000}, 0, 100_000)
	f("a budget that somebody set", compact.Limits{Window: 400_000, Budget: 5000}, compact.Published{Window: 9000, Input: 3000}, 0, 5000)
}
