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
// runs, and fails where it breaks a promise there. The environment chooses:
//
//	YARDSTICK_ALL=1       the named policies too
//	YARDSTICK_FACTS=old   facts as they lie beside the conversations: with the punctuation around
//	                      them, and capitalised words. both: one table each
//	YARDSTICK_ONLY=...    coding or service alone
//	YARDSTICK_QUICK=1     no check of the promises, and records are made once
//	YARDSTICK_TOOLS=1     tools are counted
func TestYardstick(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("this is for measuring a ladder: run it with -v to see the table")
	}
	dir := compacttest.LargerSet(t)
	var counter compact.Counter = messagesOnly{}
	if os.Getenv("YARDSTICK_TOOLS") != "" {
		counter = compacttest.Bytes{}
	}
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
	measure := func(half string, minPeak int, budgets []replay.Budget, names ...string) {
		t.Helper()
		if only := os.Getenv("YARDSTICK_ONLY"); only != "" && only != half {
			return
		}
		var files []string
		for _, n := range names {
			files = append(files, filepath.Join(dir, n+".jsonl"))
		}
		facts := os.Getenv("YARDSTICK_FACTS")
		for _, asWritten := range []bool{false, true} {
			if asWritten && facts == "" || !asWritten && facts == "old" {
				continue
			}
			o := replay.Options{Files: files, Policies: policies, Budgets: budgets, Counter: counter, MinPeak: minPeak}
			if asWritten {
				o.AsWritten()
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
			if asWritten {
				fmt.Print("FACTS AS WRITTEN\n\n")
			}
			if err := report.Table(os.Stdout, &res, 0); err != nil {
				t.Fatal(err)
			}
			fmt.Println()
		}
	}
	measure("coding", 0, []replay.Budget{{Share: 0.5}, {Share: 0.25}},
		"openhands_swebench_claude35", "mini_swe_agent_deepseek", "codex_cli_typescript", "claude_code_go")
	measure("service", 3000, []replay.Budget{{Share: 0.6}}, "tau_bench_airline_gpt4o", "agentdojo_banking_workspace")
}
