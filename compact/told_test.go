package compact_test

import (
	"testing"

	"laconic/compact"
)

// What an upstream tells as the limit of the prompt is not the window: an
// answer that is asked for takes nothing from it while there is room beside it.
func TestBudgetsUnderWhatUpstreamsTell(t *testing.T) {
	f := func(name string, l compact.Limits, told compact.Told, answer, want int) {
		t.Helper()
		if got := l.Told(told).For(answer).Tokens; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	gpt5 := compact.Limits{Window: 400_000, Input: 272_000}
	unknown := compact.Limits{Window: 128_000}
	f("nothing", gpt5, compact.Told{}, 128_000, 272_000)
	f("gpt-5 behind LiteLLM", gpt5, compact.Told{Input: 272_000}, 128_000, 272_000)
	f("a prompt limit below a window that is guessed", unknown, compact.Told{Input: 30_000}, 15_000, 30_000)
	f("the same in front of the default", compact.Limits{}, compact.Told{Input: 30_000}, 15_000, 30_000)
	f("both (TGI)", unknown, compact.Told{Window: 12_000, Input: 8000}, 4000, 8000)
	f("both, and an answer that needs more", unknown, compact.Told{Window: 12_000, Input: 8000}, 6000, 6000)
	f("a prompt limit that is the window", unknown, compact.Told{Input: 128_000}, 28_000, 100_000)
	f("one above a window that is guessed", unknown, compact.Told{Input: 200_000}, 50_000, 150_000)
	f("one above the default", compact.Limits{}, compact.Told{Input: 200_000}, 50_000, 150_000)
	f("a small window", gpt5, compact.Told{Window: 9000}, 0, 6750)
	f("the window of the model", gpt5, compact.Told{Window: 400_000}, 0, 272_000)
	f("a prompt limit that somebody set lower", compact.Limits{Window: 400_000, Input: 100_000}, compact.Told{Input: 272_000}, 0, 100_000)
	f("a budget that somebody set", compact.Limits{Window: 400_000, Budget: 5000}, compact.Told{Window: 9000, Input: 3000}, 0, 5000)
}
