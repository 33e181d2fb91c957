package learn

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// of returns a fact without a time.
func of[T comparable](v T) Fact[T] { return Fact[T]{Value: v} }

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
	f := Facts{Window: believe(1000, now, time.Hour), Messages: believe(3, now, 2*time.Hour), Shape: believe(compact.NoSlot, now, 3*time.Hour)}
	if got := f.at(now); got != f {
		t.Errorf("%+v", got)
	}
	if got := f.at(now.Add(time.Hour)); got.Window.Value != 0 || got.Messages.Value != 3 {
		t.Errorf("%+v", got)
	}
	if got := f.at(now.Add(4 * time.Hour)); got != (Facts{}) {
		t.Errorf("%+v", got)
	}
}

// TestWhatOneLearnsDoesNotUndoWhatAnotherDid: both write under one key.
func TestWhatOneLearnsDoesNotUndoWhatAnotherDid(t *testing.T) {
	now := time.Now()
	window, older := Facts{Window: believe(2000, now, limitLife)}, Facts{Window: believe(4000, now.Add(-time.Minute), limitLife)}
	shape := Facts{Shape: believe(compact.NoSlot, now, shapeLife)}
	forgotten := older
	forgotten.Window.forget(now.Add(time.Second), limitLife)
	for _, c := range []struct{ f, with, want Facts }{
		{Facts{}, window, window},
		{window, Facts{}, window},
		{window, shape, Facts{Window: window.Window, Shape: shape.Shape}},
		{window, older, window},
		{older, window, window},
		{forgotten, window, forgotten},
	} {
		if got := c.f.with(c.with, now); got != c.want {
			t.Errorf("%+v with %+v: %+v, want %+v", c.f, c.with, got, c.want)
		}
	}
}

// TestStoredFactsAreChecked: another process may be damaged, ahead of time, or
// of another version.
func TestStoredFactsAreChecked(t *testing.T) {
	now := time.Now()
	whole := Facts{
		Window: believe(2000, now, limitLife), Count: believe(Count{"words", 120}, now, countLife), Shape: believe(compact.Original, now, shapeLife),
		Hard: believe(900, now, limitLife), Cuts: Cuts("").with(CutKey{1}, now),
	}
	whole.Input.forget(now, limitLife)
	var read Facts
	if text, err := json.Marshal(whole); err != nil || json.Unmarshal(text, &read) != nil || read != whole || !read.plausible(now) || read.at(now) != whole {
		t.Errorf("%s, %v: %+v, want %+v", text, err, read, whole)
	}
	ahead := Facts{Window: believe(2000, now.Add(clockSkew), limitLife)}
	if !ahead.plausible(now) {
		t.Error("a clock that is a little ahead costs the facts")
	}
	later := now.Add(time.Minute)
	for _, bad := range []Facts{
		{Window: Fact[int]{-1, later}},
		{Bytes: Fact[int]{mostBelieved + 1, later}},
		{Count: Fact[Count]{Count{"words", 1000}, later}},
		{Count: Fact[Count]{Count{strings.Repeat("x", 100), 100}, later}},
		{Shape: Fact[compact.Demands]{compact.AllDemands + 1, later}},
		{Window: believe(2000, now, 1e6*time.Hour)},
	} {
		if bad.plausible(now) {
			t.Errorf("%+v is believed", bad)
		}
	}
	for _, none := range []Facts{{Window: Fact[int]{2000, now.Add(-time.Minute)}}, {Cuts: "x"}} {
		if got := none.at(now); got != (Facts{}) {
			t.Errorf("%+v is believed as %+v", none, got)
		}
	}
	if err := json.Unmarshal([]byte(`{"window":2000,"until":"2030-01-01T00:00:00Z","took":1500}`), &read); err == nil {
		t.Error("a record of an older version is read as one of this")
	}
}

// TestCutsAreAFewNewestOnes: a bounded list, each conversation once, by its own
// time.
func TestCutsAreAFewNewestOnes(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	key := func(n int) (k CutKey) { k[0], k[1], k[len(k)-1] = byte(n), byte(n>>8), 7; return k }
	var c Cuts
	for n := range 3 * mostCuts {
		c = c.with(key(n), now.Add(time.Duration(n)*time.Minute))
	}
	if !c.Keys()[key(3*mostCuts-1)] || c.Keys()[key(2*mostCuts-1)] || len(c.Keys()) != mostCuts {
		t.Errorf("%d", len(c.Keys()))
	}
	if again := c.with(key(3*mostCuts-1), now.Add(5*time.Hour)); len(again.Keys()) != mostCuts {
		t.Errorf("%d", len(again.Keys()))
	}
	last := now.Add(3 * mostCuts * time.Minute)
	if end := last.Add(cutLife); c.at(end) != "" || c.at(last) != c || len(c.at(end.Add(-mostCuts*time.Minute/2)).Keys()) > mostCuts/2+2 {
		t.Error("it does not forget in time")
	}
	if c.checked(now.Add(-cutLife)) != "" || Cuts("! x@7 @ "+strings.Repeat("00", 14)+"@z").checked(now) != "" {
		t.Error("it believes what no process has written")
	}
	if c.checked(now.Add((3*mostCuts-50)*time.Minute)) != c {
		t.Error("it does not believe a clock that is an hour ahead")
	}
	one, other := Cuts("").with(key(1), now).with(key(2), now.Add(time.Hour)), Cuts("").with(key(3), now.Add(time.Minute)).with(key(1), now.Add(time.Hour))
	if got := one.joined(other); len(got.Keys()) != 3 || got.at(now.Add(time.Hour)) != got || got != other.joined(one) {
		t.Errorf("%v", got)
	}
	if a, b := Cuts("").with(key(1), now).with(key(2), now), Cuts("").with(key(2), now).with(key(1), now); len(a.Keys()) != 2 || a != b {
		t.Errorf("what was cut in one minute is\n%s\nor\n%s", a, b)
	}
}

// TestWhatHasNotExpiredIsFoundWithoutReading: each request asks for what has not expired.
func TestWhatHasNotExpiredIsFoundWithoutReading(t *testing.T) {
	now := time.Now()
	var c Cuts
	for i := range mostCuts {
		c = c.with(CutKey{byte(i)}, now.Add(time.Duration(i)*time.Minute))
	}
	if allocs := testing.AllocsPerRun(10, func() { _ = c.at(now) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
	if got := c.at(now.Add(cutLife + 5*time.Minute)); len(got.Keys()) != mostCuts-6 || c.at(now.Add(cutLife+mostCuts*time.Minute)) != "" {
		t.Errorf("%d are left", len(got.Keys()))
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

func (c silentResults) PartIn(m *compact.Message, p *compact.Part) int {
	if m.Role.Result() {
		return 0
	}
	return c.Part(p)
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
