package policy_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/history"
	"laconic/compact/policy"
	"laconic/compact/promises"
)

// The cases of this file are what the originals of the named policies promise
// of themselves, and what they get wrong, made right.

func named(t *testing.T, name, options string) *compact.Policy {
	t.Helper()
	p, err := policy.New(name, []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// under compacts a transcript under a named policy and checks the promises that
// it claims.
func under(t *testing.T, p *compact.Policy, msgs []compact.Message, budget int) ([]compact.Message, compact.Plan, compact.Report) {
	t.Helper()
	in := compact.Conversation{Messages: msgs}
	b := compact.Limits{Budget: budget}.For(0)
	c := p.Counter
	if c == nil {
		c = compacttest.Words{}
	}
	plan, r := compact.Compact(in, p, c, b)
	keepsClaims(t, p.Name, in, p, c, b, &plan, r)
	return plan.Apply(""), plan, r
}

func keepsClaims(t *testing.T, where string, in compact.Conversation, p *compact.Policy, c compact.Counter, b compact.Budget, plan *compact.Plan, r compact.Report) {
	t.Helper()
	i := slices.IndexFunc(policy.Catalogue, func(n policy.Entry) bool { return n.Name == p.Name })
	for _, err := range promises.Broken(in, p, c, b, plan, r) {
		name, _, _ := strings.Cut(err.Error(), ":")
		if slices.Contains(policy.Catalogue[i].Claims, name) {
			t.Errorf("%s, budget %d: %v", where, b.Tokens, err)
		}
	}
	sent := plan.Apply("")
	heads := func(msgs []compact.Message) (n int) {
		for i := range msgs {
			if msgs[i].Role.Instruction() {
				n++
			}
		}
		return n
	}
	instructions := heads(in.Messages)
	if plan.Slot != nil && plan.Slot.At < 0 && plan.Slot.Role.Instruction() {
		instructions++
	}
	if p.Name != "adaptive" && heads(sent) != instructions {
		t.Errorf("%s, budget %d: %d instructions became %d", where, b.Tokens, instructions, heads(sent))
	}
	if len(in.Messages) > 0 && len(sent) == 0 {
		t.Errorf("%s, budget %d: nothing is left to send", where, b.Tokens)
	}
}

func text(m compact.Message) string { return m.Parts[0].Text.String() }

func words(msgs []compact.Message) string {
	var all []string
	for i := range msgs {
		var texts []string
		for _, p := range msgs[i].Parts {
			texts = append(texts, p.Text.String())
		}
		all = append(all, strings.Join(texts, ""))
	}
	return strings.Join(all, "|")
}

func TestPoliciesAreStrictAboutOptions(t *testing.T) {
	f := func(name, options, want string) {
		t.Helper()
		_, err := policy.New(name, []byte(options))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s %s: %v, want %q", name, options, err, want)
		}
	}
	f("elid", ``, `there is no policy "elid"; known are adaptive, elide, turns, window, summary, layered`)
	f("adaptive", `{"land": 0.3}`, "adaptive: there is no option land")
	f("turns", `{"chars_per_token": 0}`, "chars_per_token must be between 1 and 8")
	f("layered", `{"threshold": 0.5, "keep": 2}`, "")
	f("layered", `{"threshold": 0.96}`, "threshold must be between 0.5 and 0.95")
	f("layered", `{"threshold": 0.1, "keep": 1, "summarize": "maybe", "max_char": 1}`,
		"layered: keep must be at least 2; layered: there is no option max_char (there are threshold, keep, max_chars, summarize); "+
			"layered: option summarize cannot be a string; layered: threshold must be between 0.5 and 0.95")
	f("layered", `[]`, "options are written as {name: value}")
	for _, p := range policy.Catalogue {
		f(p.Name, ` null `, "")
		for _, o := range p.Options {
			if _, number := o.Default.(bool); o.Summary == "" || !number && (o.Unit == "" || o.Range == "") {
				t.Errorf("%s: the option %s does not say what it is: %+v", p.Name, o.Name, o)
			}
		}
	}
}

// longHistory is an agent's run of n calls with long results.
func longHistory(n int) string {
	var b strings.Builder
	b.WriteString("system: be brief\nuser: do the work\n")
	for i := range n {
		fmt.Fprintf(&b, "assistant: step %d | call c%d read {\"path\":\"/src/file_%d.go\"}\ntool c%d: %s\n", i, i, i, i, strings.Repeat(fmt.Sprintf("line %d of it   ", i), 120))
		if i%7 == 6 {
			fmt.Fprintf(&b, "assistant: part %d is done\nuser: go on with part %d\n", i, i+1)
		}
	}
	return b.String()
}

// TestPoliciesHaveTheNumbersOfTheirOriginals: estimate of tokens, start, and how
// many of the last messages stay.
func TestPoliciesHaveTheNumbersOfTheirOriginals(t *testing.T) {
	f := func(name string, counter compact.Estimator, trigger float64, start, keep int) {
		t.Helper()
		p := named(t, name, "")
		if p.Counter != counter {
			t.Errorf("%s counts by %+v, want %+v", name, p.Counter, counter)
		}
		if math.Abs(p.Trigger-trigger) > 1e-6 || p.PerRequest.Start != start || p.KeepRecent.Messages != keep {
			t.Errorf("%s starts at %v or %d and keeps %d, want %v, %d and %d", name, p.Trigger, p.PerRequest.Start, p.KeepRecent.Messages, trigger, start, keep)
		}
	}
	f("elide", compact.Estimator{PerToken: 3.5, PerMessage: 8, PerMedia: 438}, 1, 0, 4)
	f("turns", compact.Estimator{PerToken: 4}, 1, 0, 1)
	f("window", compact.Estimator{PerToken: 4}, 1, 0, 4)
	f("summary", compact.Estimator{PerToken: 3}, 1, 12_000, 6)
	f("layered", compact.Estimator{PerToken: 4, PerMessage: 4, Characters: true}, 0.8, 0, 10)
}

func TestElideStopsAtTheFirstFit(t *testing.T) {
	p := named(t, "elide", "")
	history := compacttest.Messages(t, longHistory(12))
	out, _, _ := under(t, p, history, compact.CostAll(p.Counter, history)-compact.Cost(p.Counter, &history[3])/2)
	if !strings.HasPrefix(text(out[3]), "(elided: ") || strings.HasPrefix(text(out[5]), "(elided: ") {
		t.Errorf("%.60s … %.60s", text(out[3]), text(out[5]))
	}
}

func TestElideProtectsTheLastFourAndNeverDrops(t *testing.T) {
	history := compacttest.Messages(t, longHistory(12))
	out, _, r := under(t, named(t, "elide", ""), history, 10)
	if len(out) != len(history) || r.Outcome != compact.Over {
		t.Fatalf("%d of %d messages, %s", len(out), len(history), r.Outcome)
	}
	for i := range out {
		if last := i >= len(out)-4; (last || out[i].Role == compact.User || i == 0) && !out[i].Equal(&history[i]) {
			t.Errorf("message %d changed: %.60s", i, text(out[i]))
		} else if !last && out[i].Role == compact.Tool && !strings.HasPrefix(text(out[i]), "(elided: ") {
			t.Errorf("message %d was not elided: %.60s", i, text(out[i]))
		}
	}
}

// TestElideCountsMessagesNotExchanges: of the results of one message the last
// four stay, as in the original.
func TestElideCountsMessagesNotExchanges(t *testing.T) {
	history := compacttest.Messages(t, parallel(10, 1000))
	out, _, _ := under(t, named(t, "elide", ""), history, 10)
	for i := 2; i < len(out); i++ {
		if elided := text(out[i]) == "(elided: 1000 bytes of tool result)"; elided != (i < len(out)-4) {
			t.Errorf("message %d of %d: %.60s", i, len(out), text(out[i]))
		}
	}
}

// parallel is one message with so many calls at once and their results.
func parallel(calls, size int) string {
	message, results := "user: go\nassistant: ", ""
	for i := range calls {
		message += fmt.Sprintf("| call c%d read {} ", i)
		results += fmt.Sprintf("\ntool c%d: %s", i, strings.Repeat(string(rune('a'+i)), size))
	}
	return message + results
}

// turns: entelix.

const sixTurns = "user: one one one\nassistant: one reply\nuser: two two two\nassistant: two reply\nuser: three three three\nassistant: three reply"

func TestTurnsDropsTheOldestWhileTheNewestFit(t *testing.T) {
	f := func(chars int, want string) {
		t.Helper()
		out, _, _ := under(t, named(t, "turns", `{"chars_per_token": 1}`), compacttest.Messages(t, sixTurns), chars)
		if got := words(out); got != want {
			t.Errorf("%d characters: %s, want %s", chars, got, want)
		}
	}
	// The turns have 11, 9, 11, 9, 17 and 11 characters.
	f(1024, "one one one|one reply|two two two|two reply|three three three|three reply")
	f(68, "one one one|one reply|two two two|two reply|three three three|three reply")
	f(67, "one reply|two two two|two reply|three three three|three reply")
	f(50, "two two two|two reply|three three three|three reply")
	f(28, "three three three|three reply")
	f(27, "three reply")
	f(1, "three reply")
}

// window: ailoop.

func TestNothingIsAlsoAList(t *testing.T) {
	for _, p := range policy.Catalogue {
		built, _ := p.New(nil)
		if _, r := compact.Compact(compact.Conversation{Fixed: 5_000}, built, compact.BytesPerToken(4), compact.Budget{Tokens: 1_000}); r.Outcome != compact.Over {
			t.Errorf("%s: %+v", p.Name, r)
		}
	}
}

func TestWindowTriggersAtTheBudgetItself(t *testing.T) {
	history := compacttest.Messages(t, sixTurns+"\nuser: four")
	p := named(t, "window", "")
	whole := compact.CostAll(p.Counter, history)
	if _, _, r := under(t, p, history, whole+1); r.Outcome != compact.Untouched {
		t.Errorf("below the budget: %s", r.Outcome)
	}
	out, _, r := under(t, p, history, whole)
	if r.Outcome != compact.Compacted || words(out) != "two two two|two reply|three three three|three reply|four" {
		t.Errorf("at the budget: %s, %s", r.Outcome, words(out))
	}
}

// summary: NeoGraph.

// TestSummaryLeavesADigestWithoutASummarizer: the original's span is simply gone
// then, the task with it.
func TestSummaryLeavesADigestWithoutASummarizer(t *testing.T) {
	history := compacttest.Messages(t, longHistory(20))
	out, plan, r := under(t, named(t, "summary", ""), history, 3000)
	if want := len(history) - 6; out[0].Role != compact.System || len(out) != 1+1+6 || out[2].Origin != want || r.Outcome == compact.Untouched || r.Strategy != "summarize" {
		t.Errorf("%d messages, first from %d, %s", len(out), out[2].Origin, r.Outcome)
	}
	if record := text(out[1]); out[1].Role != compact.System || !strings.HasPrefix(record, "[Record of ") || !strings.Contains(record, "do the work") {
		t.Errorf("in the place of the span stands %q", record)
	}
	if plan.Slot == nil || plan.Slot.Size != 500 {
		t.Fatalf("no place for a summary: %+v", plan.Slot)
	}
	with := plan.Apply("Previous conversation summary: all went well")
	if len(with) != 8 || with[1].Role != compact.System || text(with[1]) != "Previous conversation summary: all went well" || with[0].Role != compact.System {
		t.Errorf("%.200s", words(with))
	}
}

func TestSummaryStartsAboveTwelveThousandTokensOfThreeBytes(t *testing.T) {
	f := func(options string, bytes, budget int, want compact.Outcome) {
		t.Helper()
		history := compacttest.Messages(t, sixTurns+"\nuser: "+strings.Repeat("x", bytes)+"\nassistant: done")
		if _, _, r := under(t, named(t, "summary", options), history, budget); r.Outcome != want {
			t.Errorf("%s %d bytes, %d tokens: %s, want %s", options, bytes, r.Before, r.Outcome, want)
		}
	}
	f("", 3*11_950, 100_000, compact.Untouched)
	f("", 3*12_010, 100_000, compact.Compacted)
	f("", 3*12_010, 12_000, compact.Over) // the last six stay, too large or not
	f("", 3*9_000, 8_000, compact.Over)   // the model takes less
	f(`{"start": 20000}`, 3*19_000, 100_000, compact.Untouched)
	f(`{"start": 0}`, 3*19_000, 100_000, compact.Untouched)
}

func TestSummaryKeepsPairsAndInstructions(t *testing.T) {
	for transcript, want := range map[string]string{
		"system: s\nuser: u\nassistant: old | call o f {}\ntool o: x\nassistant: | call a f {} | call b f {} | call c f {}\ntool a: x\ntool b: x\ntool c: x\nassistant: y\nassistant: z\nuser: v\nassistant: w": "s||x|x|x|y|z|v|w",
		"system: s\nuser: a\nsystem: new rules\n" + sixTurns: "s|new rules|one one one|one reply|two two two|two reply|three three three|three reply",
	} {
		out, _, _ := under(t, named(t, "summary", ""), compacttest.Messages(t, transcript), 3)
		if got := words(out); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// layered: falai.

func stagesOf(r compact.Report) string {
	var names []string
	for _, s := range r.Stages {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

func TestLayeredGoesOnlyAsFarAsItMust(t *testing.T) {
	// A long result, then results of blanks, then prose: each layer has its own.
	long := "system: s\nuser: u\nassistant: | call a f {}\ntool a: " + strings.Repeat("x", 20_000) +
		"\nassistant: | call b f {}\ntool b: " + strings.Repeat("y    ", 900) + "\nassistant: " + strings.Repeat("z", 4000)
	for i := range 10 {
		long += fmt.Sprintf("\nuser: q%d", i)
	}
	p := named(t, "layered", "")
	history := compacttest.Messages(t, long)
	whole := compact.CostAll(p.Counter, history) // about 7,150 tokens
	f := func(budget int, want string) {
		t.Helper()
		out, _, r := under(t, p, history, budget)
		if got := stagesOf(r); got != want {
			t.Errorf("budget %d: %q, want %q", budget, got, want)
		}
		if last := want[strings.LastIndex(want, " ")+1:]; r.Strategy != last && (last != "" || r.Strategy != compact.NoStrategy) {
			t.Errorf("budget %d: the strategy is %q", budget, r.Strategy)
		}
		for i := 1; i <= 10; i++ {
			if a, b := &out[len(out)-i], &history[len(history)-i]; a.Origin != b.Origin || !a.Equal(b) {
				t.Errorf("budget %d: the last messages changed", budget)
			}
		}
	}
	f(whole*10/7, "")
	f(whole, "tool_result_budget")
	f(3800, "tool_result_budget micro_compact")
	f(2700, "tool_result_budget micro_compact drop_oldest")
}

func TestLayeredNoticeOfATrimmedResult(t *testing.T) {
	history := compacttest.Messages(t, "user: u\nassistant: | call a f {}\ntool a: "+strings.Repeat("ü", 12_000)+
		"\nassistant: | call b f {}\ntool b: "+strings.Repeat("y    ", 400)+"\nuser: v\nassistant: w")
	p := named(t, "layered", `{"keep": 2}`)
	out, _, r := under(t, p, history, 3000)
	want := strings.Repeat("ü", 5000) + "\n\n[Truncated: 12000 chars total, showing first 5000]"
	if text(out[2]) != want || stagesOf(r) != "tool_result_budget" {
		t.Errorf("%s: …%s", stagesOf(r), text(out[2])[max(0, len(text(out[2]))-80):])
	}
	// It is longer than 5,000 characters now, and not cut again.
	again, _, r := under(t, p, compacttest.Numbered(out), 2100)
	if got := text(again[2]); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") || stagesOf(r) != "micro_compact" {
		t.Errorf("%s: …%s", stagesOf(r), got[max(0, len(got)-120):])
	}
}

func TestLayeredCollapsesWhiteSpaceOfOldResultsOnly(t *testing.T) {
	history := compacttest.Messages(t, "user: a  b\nassistant: c  d | call a f {}\ntool a: e \\n\\n  f  "+strings.Repeat("g  ", 200)+"\nassistant: | call b f {}\ntool b: h   i")
	out, _, _ := under(t, named(t, "layered", `{"keep": 2, "threshold": 0.95}`), history, 140)
	if text(out[0]) != "a  b" || text(out[1]) != "c  d" || !strings.HasPrefix(text(out[2]), "e f g g") || text(out[4]) != "h   i" {
		t.Errorf("%.100s", words(out))
	}
}

func TestLayeredWithASummarizerMakesOneTextOfTheOldMessages(t *testing.T) {
	msgs := compacttest.Messages(t, longHistory(30))
	in := compact.Conversation{Messages: msgs}
	p := named(t, "layered", `{"summarize": true}`)
	b := compact.Limits{Budget: 9000}.For(0)
	f := func(text string, err error, want int) {
		t.Helper()
		msgs, r := history.Summarize(t.Context(), in, p, nil, b, func(context.Context, []compact.Message) (string, error) { return text, err })
		if len(msgs) != want || (r.SummaryFailed != nil) != (err != nil) || r.Summary != "" && msgs[1].Role != compact.System {
			t.Errorf("%d messages, want %d: %v", len(msgs), want, r.SummaryFailed)
		}
		if _, err := history.ExchangesStrict(msgs); err != nil {
			t.Error(err)
		}
	}
	f("All thirty files were read; there was nothing wrong with any of them.", nil, 1+1+10)
	f("", fmt.Errorf("no answer"), 1+1+10)
}

// Only the parts of results are copied.
func TestTrimResultsCopiesNoOtherParts(t *testing.T) {
	msgs := []compact.Message{
		{Role: compact.User, Parts: []compact.Part{{Text: compact.Plain("go")}}},
		{Role: compact.Assistant, Parts: []compact.Part{{Text: compact.Plain("on")}}},
	}
	if n := testing.AllocsPerRun(10, func() { policy.TrimResults(msgs, 1) }); n > 1 {
		t.Errorf("%v allocations for the list alone", n)
	}
}

// TestARecordWithoutASystemMessage: where a template takes no second system message and the task has
// left, no answer gets the record.
func TestARecordWithoutASystemMessage(t *testing.T) {
	p := named(t, "summary", "")
	p.Demands = compact.OneSystem
	out, plan, _ := under(t, p, compacttest.Steps(t, "user: Mend the parser.", 80), 3000)
	if plan.Slot == nil || out[0].Role != compact.User || !strings.HasPrefix(text(out[0]), "[Record of") {
		t.Errorf("the first message is %.200q", text(out[0]))
	}
}
