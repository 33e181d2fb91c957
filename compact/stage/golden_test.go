package stage_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden runs every testdata/NAME.txtar through the stage NAME, or through the
// whole ladder. A case is a transcript before and after, and a report. The first line
// of "before" says the budget, where to land (a share of the headroom) and how many
// exchanges are recent; a token is a word. Every case is then swept: all promises at
// every budget from one token to its full cost.
func TestGolden(t *testing.T) {
	for _, name := range append(stage.Names(), "ladder") {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".txtar")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatalf("every stage has its stories: %v", err)
			}
			runArchive(t, archive, func(options []byte) ([]compact.Stage, error) {
				if name == "ladder" {
					return stage.Default(), nil
				}
				s, err := stage.New(name, options)
				return []compact.Stage{s}, err
			})
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if files, err := filepath.Glob("testdata/*.txtar"); err != nil || len(files) != len(stage.Names())+1 {
		t.Errorf("%d files for %d stages: one belongs to none, %v", len(files), len(stage.Names()), err)
	}
}

func runArchive(t *testing.T, archive *txtar.Archive, ladder func(options []byte) ([]compact.Stage, error)) {
	var options []byte
	var c goldenCase
	for i := range archive.Files {
		f := &archive.Files[i]
		name, what, _ := strings.Cut(f.Name, "/")
		switch what {
		case "":
			options = f.Data
		case "before":
			stages, err := ladder(options)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			c = parseCase(t, name, string(f.Data), stages)
			c.sweep(t)
		case "after":
			golden(t, f, compacttest.Format(c.plan.Apply("")))
		case "report":
			golden(t, f, c.report())
		default:
			t.Errorf("%s: unknown section", f.Name)
		}
	}
}

type goldenCase struct {
	name   string
	in     compact.Conversation
	policy *compact.Policy
	limits compact.Limits
	plan   compact.Plan
	r      compact.Report
}

func parseCase(t *testing.T, name, text string, ladder []compact.Stage) goldenCase {
	t.Helper()
	head, transcript, _ := strings.Cut(text, "\n")
	c := goldenCase{name: name, policy: &compact.Policy{Name: name, Trigger: 1, Ladder: ladder}}
	c.policy.KeepRecent = compact.KeepRecent{Share: 1e-9, Exchanges: 1}
	words := strings.Fields(head)
	for i := 0; i+1 < len(words); i += 2 {
		var err error
		switch value := words[i+1]; words[i] {
		case "budget":
			_, err = fmt.Sscan(value, &c.limits.Budget)
		case "messages":
			_, err = fmt.Sscan(value, &c.limits.MaxMessages)
		case "land":
			_, err = fmt.Sscan(value, &c.policy.Land)
		case "recent":
			_, err = fmt.Sscan(value, &c.policy.KeepRecent.Exchanges)
		case "pin":
			var at int
			_, err = fmt.Sscan(value, &at)
			c.policy.Pins.Messages = append(c.policy.Pins.Messages, at)
		default:
			err = fmt.Errorf("unknown word")
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", name, head, err)
		}
	}
	msgs, err := compacttest.Parse(transcript)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c.in.Messages = msgs
	c.plan, c.r = compact.Compact(c.in, c.policy, compacttest.Words{}, c.limits.For(0))
	return c
}

func (c *goldenCase) sweep(t *testing.T) {
	t.Helper()
	whole := compact.CostAll(compacttest.Words{}, c.in.Messages)
	for budget := 1; budget <= whole; budget++ {
		limits := c.limits
		limits.Budget = budget
		_, broken := compacttest.Sweep(c.in, c.policy, compacttest.Words{}, limits.For(0))
		for _, err := range broken {
			t.Errorf("%s, budget %d: %v", c.name, budget, err)
		}
	}
}

func (c *goldenCase) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d → %d of %d tokens, %d → %d messages\n", c.r.Outcome, c.r.Before, c.r.After, c.r.Budget, c.r.MessagesBefore, c.r.MessagesAfter)
	for _, e := range c.plan.Edits {
		at := fmt.Sprint(e.At)
		if e.Op == compact.OpRemove {
			at = fmt.Sprintf("%d to %d", e.At, e.End-1)
		}
		fmt.Fprintf(&b, "%s %s: %s, saved %d\n", e.Stage, at, e.Why, e.Saved)
	}
	return b.String()
}

func golden(t *testing.T, f *txtar.File, got string) {
	t.Helper()
	if *update {
		f.Data = []byte(got)
		if strings.HasSuffix(f.Name, "/report") {
			f.Data = []byte(got + "\n")
		}
		return
	}
	if want := string(f.Data); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("%s\ngot:\n%swant:\n%s", f.Name, got, want)
	}
}
