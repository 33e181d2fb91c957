package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/replay"
)

// messagesOnly is the yardstick's counter: bytes/3.5 + 8 per message, nothing
// for tools.
type messagesOnly struct{ compacttest.Bytes }

func (messagesOnly) Fixed(compact.Beside) int { return 0 }

// half is one half of the yardstick: the conversations that are measured together,
// under the same budgets.
type half struct {
	name    string
	minPeak int
	files   []string
	bounds  []bound // of each budget
}

// bound is what the default policy has to keep under a budget, in percent, and
// what it may cost at most.
type bound struct {
	share                                                   float64
	recall, verbatim, hard, hardVerbatim, calls, edits, low float64
	cost                                                    float64
}

var halves = []half{
	{"coding", 0, []string{"openhands_swebench_claude35", "mini_swe_agent_deepseek", "codex_cli_typescript", "claude_code_go"}, []bound{
		{0.5, 96, 91, 77, 43, 92, 85, 91, 0.58},
		{0.25, 93, 84, 74, 37, 87, 77, 81, 0.43},
	}},
	{"service", 3000, []string{"tau_bench_airline_gpt4o", "agentdojo_banking_workspace"}, []bound{
		{0.6, 81, 61, 58, 12, 77, 0, 42, 0.86},
	}},
}

// TestYardstick prints what the default policy keeps and costs on real agent
// runs, and fails where that is less or more than its bounds or breaks a promise.
// The environment chooses:
//
//	YARDSTICK_ALL=1     the named policies too
//	YARDSTICK_ONLY=...  coding or service alone
//	YARDSTICK_QUICK=1   no check of the promises, and records are made once
func TestYardstick(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("this is for measuring a ladder: run it with -v to see the table")
	}
	dir := compacttest.LargerSet(t)
	adaptive := replay.Policy{Name: "adaptive", Policy: &compact.Policy{Name: "adaptive", Ladder: stage.Default()}}
	quick := os.Getenv("YARDSTICK_QUICK") != ""
	if !quick {
		adaptive.Claims = []int{1, 2, 3, 4, 5, 7, 8}
	}
	policies := []replay.Policy{adaptive}
	if os.Getenv("YARDSTICK_ALL") != "" {
		for _, named := range policy.Catalogue[1:] {
			p, err := named.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			policies = append(policies, replay.Policy{Name: named.Name, Policy: p})
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "recall\tverbatim\thard\thard verb\tcalls\tedits\tp5\tfits\tcost\tepochs\t  ")
	for _, h := range halves {
		if only := os.Getenv("YARDSTICK_ONLY"); only != "" && only != h.name {
			continue
		}
		o := replay.Options{Policies: policies, Counter: messagesOnly{}, MinPeak: h.minPeak}
		for _, n := range h.files {
			o.Files = append(o.Files, filepath.Join(dir, n+".jsonl"))
		}
		for _, b := range h.bounds {
			o.Budgets = append(o.Budgets, replay.Budget{Share: b.share})
		}
		if quick {
			o.Trusting()
		}
		res, err := replay.Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Unread) > 0 {
			t.Errorf("not read: %v", res.Unread)
		}
		for _, f := range res.Failures {
			t.Error(f)
		}
		for _, f := range append(res.Files, res.Total) {
			for i := range f.Rows {
				line(table, &f.Rows[i], strings.TrimSuffix(filepath.Base(f.File), ".jsonl"))
			}
		}
		for i, b := range h.bounds {
			b.check(t, h.name, &res.Total.Rows[i*len(policies)].Numbers)
		}
	}
	table.Flush()
}

// line prints what a policy kept and cost in a file.
func line(table *tabwriter.Writer, r *replay.Row, file string) {
	percent := func(part, whole int) string {
		if whole == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
	}
	fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%s\t%.3f\t%d\t  %s, %s, %s\n",
		percent(r.Recalled, r.Facts), percent(r.Verbatim, r.Facts), percent(r.HardRecalled, r.Hard), percent(r.HardVerbatim, r.Hard),
		percent(r.CallsWhole, r.Calls), percent(r.EditsShown, r.Edits), 100*r.LowRecall(),
		percent(r.Fits, r.Over), r.Cost(), r.Epochs, r.Budget, r.Policy, file)
}

// check fails the test where the numbers leave the bounds.
func (b bound) check(t *testing.T, half string, n *replay.Numbers) {
	t.Helper()
	f := func(what string, got, least float64) {
		t.Helper()
		if 100*got < least {
			t.Errorf("%s, %g × peak: %s %.1f %%, want at least %g", half, b.share, what, 100*got, least)
		}
	}
	f("recall", n.Recall(), b.recall)
	f("verbatim", n.VerbatimRecall(), b.verbatim)
	f("hard recall", n.HardRecall(), b.hard)
	f("hard verbatim", n.HardVerbatimRecall(), b.hardVerbatim)
	f("calls", n.WholeCalls(), b.calls)
	f("edits", n.ShownEdits(), b.edits)
	f("recall of the fifth percentile", n.LowRecall(), b.low)
	if n.Cost() > b.cost {
		t.Errorf("%s, %g × peak: cost %.3f, want at most %g", half, b.share, n.Cost(), b.cost)
	}
}
