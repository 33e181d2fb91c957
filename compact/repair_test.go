package compact_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"laconic/compact"
	"laconic/compact/compacttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRepairStories runs testdata/repair.txtar. Every case is also repaired
// twice (the second time nothing may happen) and in both modes checked to be
// legal.
func TestRepairStories(t *testing.T) {
	const file = "testdata/repair.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var before []compact.Message
	for i := range archive.Files {
		f := &archive.Files[i]
		name, what, _ := strings.Cut(f.Name, "/")
		mode := compact.RepairAnswer
		if strings.Contains(name, ", drop") {
			mode = compact.RepairDrop
		}
		switch what {
		case "before":
			if before, err = compacttest.Parse(string(f.Data)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, mode := range []compact.RepairMode{compact.RepairAnswer, compact.RepairDrop} {
				once, _ := compact.Repair(before, mode)
				if twice, edits := compact.Repair(once, mode); len(edits) > 0 || compacttest.Format(twice) != compacttest.Format(once) {
					t.Errorf("%s (%s): repairing twice: %v\n%s", name, mode, edits, compacttest.Format(twice))
				}
				in := compact.Conversation{Messages: before}
				p := &compact.Policy{Repair: mode}
				plan, r := compact.Compact(in, p, compacttest.Words{}, compact.Limits{}.For(0))
				for _, err := range compact.Broken(in, p, compacttest.Words{}, compact.Limits{}.For(0), &plan, r) {
					t.Errorf("%s (%s): %v", name, mode, err)
				}
			}
		case "after":
			out, _ := compact.Repair(before, mode)
			golden(t, name, f, compacttest.Format(out))
		case "edits":
			_, edits := compact.Repair(before, mode)
			var b strings.Builder
			for _, e := range edits {
				b.WriteString(strings.TrimRight(fmt.Sprintf("%s %d %s", e.Op, e.Origin, e.ID), " ") + "\n")
			}
			golden(t, name, f, b.String())
		default:
			t.Errorf("%s: unknown section", f.Name)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func golden(t *testing.T, name string, f *txtar.File, got string) {
	t.Helper()
	if *update {
		f.Data = []byte(got + "\n")
		if !strings.HasSuffix(f.Name, "/edits") {
			f.Data = []byte(got)
		}
		return
	}
	if want := string(f.Data); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("%s (%s)\ngot:\n%swant:\n%s", name, f.Name, got, want)
	}
}

// TestLegalListIsTheSameSlice: nothing needed, nothing copied.
func TestLegalListIsTheSameSlice(t *testing.T) {
	msgs, err := compacttest.Parse("user: go\nassistant: | call a read x\ntool a: one\nassistant: done")
	if err != nil {
		t.Fatal(err)
	}
	out, edits := compact.Repair(msgs, compact.RepairAnswer)
	if &out[0] != &msgs[0] || edits != nil {
		t.Errorf("a legal list was copied, or edited: %v", edits)
	}
	if n := testing.AllocsPerRun(100, func() { compact.Repair(msgs, compact.RepairAnswer) }); n != 0 {
		t.Errorf("a legal list costs %v allocations", n)
	}
}

// TestRepairOfManyCallsIsLinear: 20,000 calls in one message, half of them
// unanswered and in the wrong order, in far less than a second.
func TestRepairOfManyCallsIsLinear(t *testing.T) {
	const n = 20_000
	m := compact.Message{Role: compact.Assistant, Shape: compact.Null}
	msgs := []compact.Message{{Role: compact.User, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain("go")}}}, m}
	for i := range n {
		msgs[1].Calls = append(msgs[1].Calls, compact.Call{ID: fmt.Sprint("c", i/2), Name: "f"})
	}
	for i := n - 1; i >= n/2; i-- {
		msgs = append(msgs, compact.Message{Role: compact.Tool, Shape: compact.String, Answers: fmt.Sprint("c", i/2), Parts: []compact.Part{{Text: compact.Plain("x")}}})
	}
	for i := range msgs {
		msgs[i].Origin = i
	}
	in := compact.Conversation{Messages: msgs}
	b := compact.Limits{MaxMessages: 50_000}.For(0)
	plan, r := compact.Compact(in, adaptive(), compacttest.Words{}, b)
	for _, err := range compact.Broken(in, adaptive(), compacttest.Words{}, b, &plan, r) {
		t.Error(err)
	}
	if got := len(plan.Apply(in, "")); got != n+2 {
		t.Errorf("%d messages, want every one of %d calls answered once", got, n)
	}
}
