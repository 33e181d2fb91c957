package compact_test

import (
	"strconv"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestRulesOfOtherAPIs: where an API takes an id once in a list, repair renames the
// calls that use it again, and their results with them, within the length that the
// API takes. What was sent stays a prefix.
func TestRulesOfOtherAPIs(t *testing.T) {
	rules := compact.Rules{LongestID: 64, OnceInList: true}
	long := strings.Repeat("x", 64)
	msgs := compacttest.Messages(t, "user: go\nassistant: | call a f\ntool a: 1\nassistant: | call a f | call b f\ntool a: 2\ntool b: 3\n"+
		"assistant: | call "+long+" f\ntool "+long+": 4\nassistant: | call "+long+" f\ntool "+long+": 5\nassistant: | legacy g\nfunction g: 6\nassistant: | legacy g\nfunction g: 7\n")
	if same, edits := compact.Repair(msgs, compact.RepairAnswer); len(edits) > 0 || &same[0] != &msgs[0] {
		t.Errorf("the chat API takes an id again: %+v", edits)
	}
	out, edits := rules.Repair(msgs, compact.RepairAnswer)
	var got []string
	for i := range out {
		if m := &out[i]; m.Role.Result() {
			id, _ := compact.NameIn(m.Answers)
			got = append(got, strings.Replace(id, long[:60], "…", 1)+" "+m.Parts[0].Text.String())
		}
	}
	if got, want := strings.Join(got, "|"), "a 1|a_3 2|b 3|…xxxx 4|…xx_3 5|g 6|g 7"; got != want {
		t.Errorf("%d edits made\n%s\nwant\n%s", len(edits), got, want)
	}
	if again, edits := rules.Repair(out, compact.RepairAnswer); len(edits) > 0 || len(again) != len(out) {
		t.Errorf("repaired twice: %+v", edits)
	}
	for n := range len(msgs) {
		prefix, _ := rules.Repair(msgs[:n:n], compact.RepairAnswer)
		if !msgs[n].Role.Result() && compacttest.Format(prefix) != compacttest.Format(out[:len(prefix)]) {
			t.Errorf("after %d messages what was sent was\n%s", n, compacttest.Format(prefix))
		}
	}
	msgs = compacttest.Messages(t, "user: go\nassistant: | call f:0 f | call f_0 f\ntool f:0: 1\ntool f_0: 2\nassistant: | call f:0 f\ntool f:0: 3\nassistant: | call ä-1 f\ntool ä-1: 4\nuser: and")
	rules.PlainIDs = true
	out, _ = rules.Repair(msgs, compact.RepairAnswer)
	if got, want := compacttest.Format(out), "user: go\nassistant: | call f_0_3 f | call f_0 f\ntool f_0_3: 1\ntool f_0: 2\nassistant: | call f_0_4 f\ntool f_0_4: 3\nassistant: | call _-1 f\ntool _-1: 4\nuser: and\n"; got != want {
		t.Errorf("letters that the API does not take:\n%s\nwant\n%s", got, want)
	}
	if again, edits := rules.Repair(out, compact.RepairAnswer); len(edits) > 0 || len(again) != len(out) {
		t.Errorf("repaired twice: %+v", edits)
	}
	many := make([]compact.Message, 0, 60_000)
	for i := range 30_000 {
		many = append(many, compact.Message{Role: compact.Assistant, Shape: compact.Null, Origin: 2 * i, Calls: []compact.Call{{Nth: 1, ID: "a", Name: "f"}}},
			compact.Message{Role: compact.Tool, Shape: compact.String, Origin: 2*i + 1, Answers: "a", Parts: []compact.Part{{Nth: 1, Text: compact.Plain(strconv.Itoa(i))}}})
	}
	if out, _ := rules.Repair(many, compact.RepairAnswer); len(out) != len(many) || out[len(out)-1].Answers == "a" {
		t.Error("30,000 calls with one id were not renamed")
	}

	in := compact.Conversation{Messages: many[:4000], Rules: compact.Rules{MostMessages: -1}}
	p := &compact.Policy{Repair: compact.RepairAnswer}
	if _, r := compact.Compact(in, p, compacttest.Bytes{}, compact.Budget{Tokens: 1 << 30}); r.Outcome != compact.Untouched {
		t.Errorf("4,000 messages where an API takes any number are %s", r.Outcome)
	}
	if got := (compact.Limits{}).Under(in.Rules).For(0).Messages; got < 1<<30 {
		t.Errorf("at most %d messages", got)
	}
}
