package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/replay"
	"laconic/replay/report"
)

// messagesOnly is the yardstick's counter: bytes/3.5 + 8 per message, nothing
// for tools.
type messagesOnly struct{ compacttest.Bytes }

func (messagesOnly) Fixed(_, _, _ []byte) int { return 0 }

// TestYardstick prints what the default policy keeps and costs on real agent
// runs, and fails where it breaks a promise there. Set YARDSTICK_TOOLS=1 to
// count the tools too, YARDSTICK_ALL=1 to measure the named policies beside it.
func TestYardstick(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("this is for measuring a ladder: run it with -v to see the table")
	}
	dir := compacttest.LargerSet(t)
	var counter compact.Counter = messagesOnly{}
	if os.Getenv("YARDSTICK_TOOLS") != "" {
		counter = compacttest.Bytes{}
	}
	measure := func(minPeak int, budgets []replay.Budget, names ...string) {
		t.Helper()
		o := replay.Options{
			Policies: []replay.Policy{{Name: "adaptive", Policy: &compact.Policy{Name: "adaptive", Ladder: stage.Default()}, Claims: []int{1, 2, 3, 4, 5, 7, 8}}},
			Budgets:  budgets, Counter: counter, MinPeak: minPeak,
		}
		if os.Getenv("YARDSTICK_ALL") != "" {
			for _, named := range policy.Catalogue[1:] {
				p, err := named.New(nil)
				if err != nil {
					t.Fatal(err)
				}
				o.Policies = append(o.Policies, replay.Policy{Name: named.Name, Policy: p})
			}
		}
		for _, n := range names {
			o.Files = append(o.Files, filepath.Join(dir, n+".jsonl"))
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
		if err := report.Table(os.Stdout, &res, 0); err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Total.Rows {
			fmt.Printf("mean over conversations, %s, %s: recall %.1f %%, cost %.3f\n", r.Budget, r.Policy, 100*r.MeanRecall(), r.MeanCost())
		}
		fmt.Println()
	}
	measure(0, []replay.Budget{{Share: 0.5}, {Share: 0.25}},
		"openhands_swebench_claude35", "mini_swe_agent_deepseek", "codex_cli_typescript", "claude_code_go")
	measure(3000, []replay.Budget{{Share: 0.6}}, "tau_bench_airline_gpt4o", "agentdojo_banking_workspace")
}
