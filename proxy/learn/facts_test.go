package learn

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// of returns a fact without a time.
func of[T any](v T) Fact[T] { return Fact[T]{Value: v} }

func TestWhatALimitLeavesForThePrompt(t *testing.T) {
	f := func(facts Facts, set compact.Limits, asked, budget, accepts int) {
		t.Helper()
		if got := facts.Budget(set, asked).Tokens; got != budget {
			t.Errorf("%+v of %+v, asked %d: budget %d, want %d", facts, set, asked, got, budget)
		}
		if got := facts.Accepts(set, asked); got != accepts {
			t.Errorf("%+v of %+v, asked %d: accepts %d, want %d", facts, set, asked, got, accepts)
		}
	}
	wide := compact.Limits{Window: 128_000}
	f(Facts{}, wide, 0, 119_808, 128_000)
	f(Facts{Window: of(4096)}, wide, 0, 3072, 4096)
	f(Facts{Window: of(4096)}, wide, 1000, 3096, 3096)
	f(Facts{Window: of(4096)}, wide, 100_000, 3072, 3072)
	f(Facts{Window: of(4096), Together: of(true)}, wide, 2000, 2096, 2096)
	f(Facts{Window: of(4096), Together: of(true)}, wide, 100_000, 2048, 2048)
	f(Facts{Window: of(4096), Input: of(1096)}, wide, 3000, 1096, 1096)
	f(Facts{Window: of(1_000_000)}, wide, 0, 119_808, 1_000_000) // a larger limit raises nothing
	f(Facts{Input: of(2000)}, wide, 0, 2000, 2000)
	f(Facts{Input: of(2000)}, compact.Limits{Window: 128_000, Input: 1000}, 0, 1000, 1000)
	f(Facts{Window: of(4096)}, compact.Limits{Budget: 2000}, 0, 2000, 4096)
	f(Facts{Window: of(4096)}, compact.Limits{Budget: 24_000}, 0, 3072, 4096)
	f(Facts{Hard: of(900)}, wide, 0, 119_808, 900)
	// Beside a window that the upstream stated, a request that says how long its
	// answer may be keeps just that.
	stated := Facts{Window: of(16_000)}
	f(stated, compact.Limits{}, 2000, 14_000, 14_000)
	f(stated, compact.Limits{}, 0, 12_000, 16_000)
	f(stated, compact.Limits{}, 9000, 12_000, 12_000)
	f(Facts{Window: of(16_000), Together: of(true)}, compact.Limits{}, 9000, 8000, 8000)
	f(stated, compact.Limits{Reserve: 3000}, 2000, 13_000, 14_000)
	f(stated, compact.Limits{Budget: 10_000}, 2000, 10_000, 14_000)
}

func TestFactsExpire(t *testing.T) {
	now := time.Now()
	f := Facts{Window: believe(1000, now, time.Hour), Messages: believe(3, now, 2*time.Hour), Demands: believe(compact.NoSlot, now, 3*time.Hour)}
	if got := f.at(now); !got.Equal(f) {
		t.Errorf("%+v", got)
	}
	if got := f.at(now.Add(time.Hour)); got.Window.Value != 0 || got.Messages.Value != 3 {
		t.Errorf("%+v", got)
	}
	if got := f.at(now.Add(4 * time.Hour)); !got.Equal(Facts{}) {
		t.Errorf("%+v", got)
	}
}

// TestWhatOneLearnsDoesNotUndoWhatAnotherDid: both write under one key.
func TestWhatOneLearnsDoesNotUndoWhatAnotherDid(t *testing.T) {
	now := time.Now()
	window, older := Facts{Window: believe(2000, now, limitLife)}, Facts{Window: believe(4000, now.Add(-time.Minute), limitLife)}
	demands := Facts{Demands: believe(compact.NoSlot, now, factLife)}
	forgotten := older
	forgotten.Window = believe(0, now.Add(time.Second), limitLife)
	for _, c := range []struct{ f, with, want Facts }{
		{Facts{}, window, window},
		{window, Facts{}, window},
		{window, demands, Facts{Window: window.Window, Demands: demands.Demands}},
		{window, older, window},
		{older, window, window},
		{forgotten, window, forgotten},
	} {
		if got := c.f.with(c.with, now); !got.Equal(c.want) {
			t.Errorf("%+v with %+v: %+v, want %+v", c.f, c.with, got, c.want)
		}
	}
}

// TestFactsStayTheSameInAStore: as text, and unless a clock far ahead wrote them.
func TestFactsStayTheSameInAStore(t *testing.T) {
	now := time.Now()
	whole := Facts{
		Window: believe(2000, now, limitLife), Count: believe(Count{"words", 120}, now, factLife), Demands: believe(compact.Original, now, factLife),
		Larger: believe(true, now, factLife), Hard: believe(900, now, limitLife), Cuts: []Fact[string]{believe("cut", now, factLife)},
		Held: believe(Held{Count: Count{Way: "words"}, Confirmed: true, From: 3, Rates: []compact.Rate{{From: 3, Percent: 110, Extra: -7}}}, now, factLife),
	}
	whole.Input = believe(0, now, limitLife)
	var read Facts
	if text, err := json.Marshal(whole); err != nil || json.Unmarshal(text, &read) != nil || !read.Equal(whole) || !read.at(now).Equal(whole) {
		t.Errorf("%s, %v: %+v, want %+v", text, err, read, whole)
	}
	if ahead := (Facts{Window: believe(2000, now.Add(time.Hour), limitLife)}); !ahead.at(now).Equal(ahead) {
		t.Error("a clock that is a little ahead costs the facts")
	}
	for _, none := range []Facts{
		{Window: Fact[int]{2000, now.Add(-time.Minute)}},
		{Window: believe(2000, now, 1e6*time.Hour)},
		{Cuts: []Fact[string]{{Value: "x"}}},
	} {
		if got := none.at(now); !got.Equal(Facts{}) {
			t.Errorf("%+v is believed as %+v", none, got)
		}
	}
}

// TestCutsAreAFewNewestOnes: each conversation once, by its own time, whatever the order
// in which two processes join what they know.
func TestCutsAreAFewNewestOnes(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	cut := func(n int, after time.Duration) []Fact[string] {
		return []Fact[string]{believe(strconv.Itoa(n), now.Add(after), factLife)}
	}
	var all []Fact[string]
	for n := range 2 * mostCuts {
		all = joined(all, cut(n, time.Duration(n)*time.Minute), now)
	}
	f := Facts{Cuts: all}
	if len(all) != mostCuts || !f.HasCut(strconv.Itoa(2*mostCuts-1)) || f.HasCut(strconv.Itoa(mostCuts-1)) {
		t.Errorf("%d", len(all))
	}
	if again := joined(all, cut(2*mostCuts-1, 24*time.Hour), now); len(again) != mostCuts || again[mostCuts-1].Until != now.Add(2*factLife).UTC() {
		t.Errorf("%+v", again[mostCuts-1])
	}
	last := all[mostCuts-1].Until
	if left := f.at(last.Add(-time.Minute)); len(left.Cuts) != 1 || !f.at(last).Equal(Facts{}) {
		t.Errorf("%+v is left", left)
	}
	one, other := joined(cut(1, 0), cut(2, time.Hour), now), joined(cut(3, time.Minute), cut(1, time.Hour), now)
	if got := joined(one, other, now); len(got) != 3 || !reflect.DeepEqual(got, joined(other, one, now)) || got[2].Value != "2" {
		t.Errorf("%v", got)
	}
}

// silentResults counts words, and nothing for results: the template leaves them out.
type silentResults struct{ compacttest.Words }

func (c silentResults) Envelope(m *compact.Message) int {
	if m.Role.Result() {
		return 0
	}
	return c.Words.Envelope(m)
}

func (c silentResults) Part(m *compact.Message, p *compact.Part) int {
	if m.Role.Result() {
		return 0
	}
	return c.Words.Part(m, p)
}

// TestWhatIsLeftOutCostsNothing: whatever the factor, and whatever the template demands
// beside.
func TestWhatIsLeftOutCostsNothing(t *testing.T) {
	f := Facts{Count: Fact[Count]{Value: Count{Percent: 110}}}
	c := f.Counter(silentResults{})
	result := compact.Message{Role: compact.Tool, Parts: []compact.Part{{Text: compact.Plain("one two three")}}}
	user := compact.Message{Role: compact.User, Parts: result.Parts}
	if got := compact.Cost(c, &result); got != 0 {
		t.Errorf("a result costs %d", got)
	}
	if got := compact.Cost(c, &user); got == 0 {
		t.Error("a user's message costs nothing")
	}
}
