package stage_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

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
			var options []byte
			var c goldenCase
			compacttest.Stories(t, filepath.Join("testdata", name+".txtar"), *update, []string{"", "before", "after", "report"}, func(story, what, text string) string {
				switch what {
				case "":
					options = []byte(text)
				case "before":
					ladder := stage.Default()
					if name != "ladder" {
						s, err := stage.New(name, options)
						if err != nil {
							t.Fatalf("%s: %v", story, err)
						}
						ladder = []compact.Stage{s}
					}
					c = parseCase(t, story, text, ladder)
					c.sweep(t)
				case "after":
					return compacttest.Format(c.plan.Apply(""))
				case "report":
					return c.report() + "\n"
				}
				return text
			})
		})
	}
	if files, err := filepath.Glob("testdata/*.txtar"); err != nil || len(files) != len(stage.Names())+1 {
		t.Errorf("%d files for %d stages: one belongs to none, %v", len(files), len(stage.Names()), err)
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
	c := goldenCase{name: name, policy: &compact.Policy{Name: name, Ladder: ladder}}
	c.limits = compacttest.Under(t, head, c.policy)
	c.in.Messages = compacttest.Messages(t, transcript)
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
