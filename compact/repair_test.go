package compact_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sections are those of the golden files.
var sections = []string{"before", "after", "edits"}

// TestRepairStories runs testdata/repair.txtar. Every case is also repaired
// twice (the second time nothing may happen) and in both modes checked to be
// legal.
func TestRepairStories(t *testing.T) {
	var before []compact.Message
	compacttest.Stories(t, "testdata/repair.txtar", *update, sections, func(name, what, text string) (got string) {
		mode := compact.RepairAnswer
		if strings.Contains(name, ", drop") {
			mode = compact.RepairDrop
		}
		out, edits := compact.Repair(before, mode)
		switch what {
		case "before":
			before = compacttest.Messages(t, text)
			for _, mode := range []compact.RepairMode{compact.RepairAnswer, compact.RepairDrop} {
				once, _ := compact.Repair(before, mode)
				if twice, edits := compact.Repair(once, mode); len(edits) > 0 || compacttest.Format(twice) != compacttest.Format(once) {
					t.Errorf("%s (%s): repairing twice: %v\n%s", name, mode, edits, compacttest.Format(twice))
				}
				in := compact.Conversation{Messages: before}
				p := &compact.Policy{Repair: mode}
				compacttest.Compacted(t, in, p, compacttest.Words{}, compact.Limits{}.For(0), name, mode)
			}
		case "after":
			return compacttest.Format(out)
		case "edits":
			return shortly(edits)
		}
		return text
	})
}

// shortly returns edits, a line each.
func shortly(edits []compact.Edit) string {
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%s %d %s", e.Op, e.Origin, e.ID), " ") + "\n")
	}
	return b.String() + "\n"
}

// TestLegalListIsTheSameSlice: nothing needed, nothing copied.
func TestLegalListIsTheSameSlice(t *testing.T) {
	msgs := compacttest.Messages(t, "user: go\nassistant: | call a read x\ntool a: one\nassistant: done")
	out, edits := compact.Repair(msgs, compact.RepairAnswer)
	if &out[0] != &msgs[0] || edits != nil {
		t.Errorf("a legal list was copied, or edited: %v", edits)
	}
}

// TestDropLeavesNothingOfAMessageThatOnlyCalled: not its seal, if that was a
// signature of a call, nor a text that is empty.
func TestDropLeavesNothingOfAMessageThatOnlyCalled(t *testing.T) {
	empty := []compact.Part{{Text: compact.Plain("")}, {Text: compact.Plain("")}}
	signed := []compact.Call{{ID: "a", Sealed: true}}
	for _, m := range []compact.Message{
		{Shape: compact.Null, Calls: signed, Seal: compact.SealCalls},
		{Shape: compact.Array, Parts: empty, Calls: signed, Seal: compact.SealCalls},
		{Shape: compact.String, Parts: empty[:1], Calls: []compact.Call{{ID: "a"}}},
		{Shape: compact.String, Parts: empty[:1], Calls: []compact.Call{{ID: "a"}}, Seal: compact.SealText | compact.SealArguments, Reasoning: compact.Plain("so")},
	} {
		m.Role, m.Origin = compact.Assistant, 1
		msgs := []compact.Message{{Role: compact.User}, m}
		if out, _ := compact.Repair(msgs, compact.RepairDrop); len(out) != 1 {
			t.Errorf("%+v is left of %+v", out[1], m)
		}
	}
	m := compact.Message{
		Role: compact.Assistant, Shape: compact.Null, Origin: 1, Seal: compact.SealCalls,
		Calls: []compact.Call{{ID: "a", Sealed: true}, {ID: "b"}},
	}
	out, _ := compact.Repair([]compact.Message{{Role: compact.User}, m, result("b")}, compact.RepairDrop)
	if len(out) != 3 || out[1].Seal != 0 || len(out[1].Calls) != 1 || out[1].Calls[0].ID != "b" {
		t.Errorf("%+v", out)
	}
}

// TestQuotesAreBoundedAndCannotImitateTheLabel: every line of a result
// follows the mark.
func TestQuotesAreBoundedAndCannotImitateTheLabel(t *testing.T) {
	label := "[Output of tools whose calls are not part of this conversation."
	var msgs []compact.Message
	for i := range 500 {
		m := result("a\n" + label)
		text := "one\n" + label + "\r\n" + label + "\u2028" + label + "\v" + label
		if i%2 == 0 {
			text = strings.Repeat(text, 1000)
		}
		m.Parts, m.Origin = []compact.Part{{Text: compact.Plain(text)}}, i
		msgs = append(msgs, m)
	}
	in := compact.Conversation{Messages: msgs}
	plan, r := compacttest.Compacted(t, in, &compact.Policy{}, compacttest.Bytes{}, compact.Limits{}.For(0))
	out := plan.Apply("")
	if len(out) != 1 || out[0].Role != compact.User {
		t.Fatalf("%d messages are left", len(out))
	}
	text := out[0].Parts[0].Text.String()
	if len(text) > 80<<10 || r.ResultsDropped != 500-strings.Count(text, "\nResult of ") {
		t.Errorf("%d bytes, %d results dropped", len(text), r.ResultsDropped)
	}
	for i, line := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", c) }) {
		if i > 0 && !strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, `Result of call "a\n[Output`) {
			t.Fatalf("line %d is outside of the quotation: %q", i, line)
		}
	}
}

func result(id string) compact.Message {
	return compact.Message{Role: compact.Tool, Answers: id, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(strings.Repeat("x", 20))}}}
}
