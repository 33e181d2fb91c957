package stage_test

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// The cases of this file are those that other compactors state of themselves,
// made anew for the stages that do the same: helexa's elision of old payloads
// and entelix's dropping of whole turns.

func ladder(t *testing.T, names ...string) []compact.Stage {
	t.Helper()
	var l []compact.Stage
	for _, n := range names {
		s, err := stage.New(n, nil)
		if err != nil {
			t.Fatal(err)
		}
		l = append(l, s)
	}
	return l
}

// run compacts a transcript to a budget, in the byte estimate, with the last
// messages protected. Every promise is checked on the way.
func run(t *testing.T, transcript string, budget, last int, names ...string) ([]compact.Message, compact.Plan, compact.Report) {
	t.Helper()
	in := compact.Conversation{Messages: compacttest.Messages(t, transcript)}
	p := &compact.Policy{Trigger: 1, Land: 0.999, KeepRecent: compact.KeepRecent{Messages: last}, Ladder: ladder(t, names...)}
	b := compact.Limits{Budget: budget}.For(0)
	plan, r := compact.Compact(in, p, compacttest.Bytes{}, b)
	for _, err := range compact.Broken(in, p, compacttest.Bytes{}, b, &plan, r) {
		t.Error(err)
	}
	return plan.Apply(in, ""), plan, r
}

func text(m compact.Message) string { return m.Parts[0].Text.String() }

func cost(t *testing.T, transcript string) int {
	t.Helper()
	return compact.CostAll(compacttest.Bytes{}, compacttest.Messages(t, transcript))
}

var elideBoth = []string{"elide_results", "elide_prose"}

func TestElideUnderBudgetIsANoOp(t *testing.T) {
	out, _, r := run(t, "system: you are an agent\nuser: hi\nassistant: hello", 10_000, 4, elideBoth...)
	if r.Outcome != compact.Untouched || r.Before != r.After || text(out[2]) != "hello" {
		t.Errorf("%+v", r)
	}
}

func TestElideTakesOldResultsBeforeOldProse(t *testing.T) {
	history := "system: preamble\nuser: first ask\nassistant: | call c0 read_file {\"path\":\"/a\"}\ntool c0: " +
		strings.Repeat("X", 4096) + "\nassistant: " + strings.Repeat("Y", 2048) +
		"\nuser: follow up\nassistant: | call c1 read_file {\"path\":\"/b\"}\ntool c1: short result body"
	out, plan, _ := run(t, history, cost(t, history)/2, 3, elideBoth...)
	if len(plan.Edits) == 0 || !strings.HasPrefix(text(out[3]), "(elided: 4096 bytes of tool result") {
		t.Errorf("the old result was not elided: %.80s", text(out[3]))
	}
	if text(out[4]) != strings.Repeat("Y", 2048) {
		t.Errorf("prose went although the result was enough: %.80s", text(out[4]))
	}
	if text(out[7]) != "short result body" {
		t.Errorf("the tail was touched: %s", text(out[7]))
	}
}

func TestElideNeverTouchesSystemOrUser(t *testing.T) {
	big := strings.Repeat("U", 8192)
	out, _, r := run(t, "system: preamble\nuser: "+big+"\nassistant: ok", 10, 4, elideBoth...)
	if text(out[0]) != "preamble" || text(out[1]) != big || r.Outcome != compact.Over {
		t.Errorf("%+v", r)
	}
}

func TestElideKeepsIDs(t *testing.T) {
	history := "system: preamble\nuser: first\nassistant: | call call_42 read_file {\"path\":\"/a\"}\ntool call_42: " +
		strings.Repeat("Z", 4096) + "\nuser: next\nassistant: | call call_43 read_file {\"path\":\"/b\"}\ntool call_43: ok\nassistant: done"
	out, _, _ := run(t, history, cost(t, history)/3, 4, elideBoth...)
	if out[2].Calls[0].ID != "call_42" || out[3].Answers != "call_42" || !strings.HasPrefix(text(out[3]), "(elided:") {
		t.Errorf("%s", compacttest.Format(out))
	}
}

func TestElideSkipsShortContent(t *testing.T) {
	out, _, r := run(t, "user: go\nassistant: | call c0 f {}\ntool c0: tiny\nassistant: done", 1, 1, elideBoth...)
	if text(out[2]) != "tiny" || len(r.Stages) != 0 {
		t.Errorf("%s", compacttest.Format(out))
	}
}

func TestBestEffortWhenTheBudgetCannotBeMet(t *testing.T) {
	history := "system: preamble\nuser: " + strings.Repeat("U", 100_000)
	out, _, r := run(t, history, 10, 4, elideBoth...)
	if len(out) != 2 || r.After <= 10 || r.Outcome != compact.Over {
		t.Errorf("%d messages, %+v", len(out), r)
	}
}

func TestEstimateGrowsWithContent(t *testing.T) {
	if small, large := cost(t, "system: hi"), cost(t, "system: "+strings.Repeat("x", 10_000)); large <= small*100 {
		t.Errorf("%d and %d", small, large)
	}
}

func TestDropOfNothingIsNothing(t *testing.T) {
	out, _, r := run(t, "", 1024, 0, "drop_oldest")
	if len(out) != 0 || r.Outcome != compact.Untouched {
		t.Errorf("%+v", r)
	}
}

func TestDropKeepsWhatFits(t *testing.T) {
	for _, history := range []string{
		"user: hi\nassistant: hello!",
		"user: ask\nassistant: | call c tool {}\ntool c: ok\nassistant: answer is 2",
	} {
		if out, _, r := run(t, history, 4096, 0, "drop_oldest"); r.Outcome != compact.Untouched || compacttest.Format(out) != history+"\n" {
			t.Errorf("%s", compacttest.Format(out))
		}
	}
}

func TestRepairNamesTheIDThatHasNoCall(t *testing.T) {
	_, plan, _ := run(t, "user: ask\nassistant: calling\ntool orphan: x", 4096, 0, "drop_oldest")
	if len(plan.Edits) != 1 || plan.Edits[0].Op != compact.OpDropResult || plan.Edits[0].ID != "orphan" {
		t.Errorf("%+v", plan.Edits)
	}
}

func TestRepairNamesTheIDThatHasNoResult(t *testing.T) {
	_, plan, _ := run(t, "user: ask\nassistant: calling | call dangling calc {}", 4096, 0, "drop_oldest")
	if len(plan.Edits) != 1 || plan.Edits[0].Op != compact.OpAnswer || plan.Edits[0].ID != "dangling" {
		t.Errorf("%+v", plan.Edits)
	}
}

func TestDropTakesTheOldestAndKeepsTheNewest(t *testing.T) {
	history := "user: one one one\nassistant: one reply\nuser: two two two\nassistant: two reply\nuser: three three three\nassistant: three reply"
	out, _, r := run(t, history, cost(t, history)-10, 1, "drop_oldest")
	if r.Outcome != compact.Compacted || text(out[len(out)-1]) != "three reply" || text(out[0]) != "one one one" {
		t.Errorf("%s", compacttest.Format(out))
	}
	for _, m := range out {
		if text(m) == "one reply" {
			t.Errorf("the oldest reply is still there:\n%s", compacttest.Format(out))
		}
	}
}

func TestDropNeverTakesAnExchangeInPart(t *testing.T) {
	history := "user: u1\nassistant: a1 | call t1 x {\"v\":1} | call t2 y {}\ntool t1: r1\ntool t2: r2\nassistant: a2 | call t3 z {}\ntool t3: r3\nuser: u2\nassistant: a3"
	whole := cost(t, history)
	for budget := 1; budget <= whole; budget++ {
		out, _, _ := run(t, history, budget, 1, "drop_oldest")
		calls, results := 0, 0
		for _, m := range out {
			calls += len(m.Calls)
			if m.Role.Result() {
				results++
			}
		}
		if calls != results {
			t.Errorf("budget %d: %d calls, %d results", budget, calls, results)
		}
	}
}

func TestOptionsAreStrict(t *testing.T) {
	f := func(name, options, want string) {
		t.Helper()
		_, err := stage.New(name, []byte(options))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s: %v, want it to say %q", name, options, err, want)
		}
	}
	f("trim_result", ``, `there is no stage "trim_result"`)
	f("trim_results", `{"max_char": 1}`, "there is no option max_char")
	f("trim_results", `{"max_chars": "many"}`, "option max_chars cannot be a string")
	f("trim_results", `{"max_chars": 0}`, "max_chars must be at least 1")
	f("elide_results", `{"min_bytes": -1}`, "min_bytes must be at least 0")
	f("drop_oldest", `[]`, "options are written as {name: value}")
}
