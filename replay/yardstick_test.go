package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/e2e/rig"
	"laconic/proxy/wire"
	"laconic/proxy/wire/wiretest"
	"laconic/replay"
)

// messagesOnly is the yardstick's counter: bytes/3.5 + 8 per message, nothing
// for tools. There is one for each conversation.
type messagesOnly struct {
	compacttest.Bytes
	records records
}

func (*messagesOnly) Fixed(compact.Beside) int { return 0 }

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
		{0.5, 96, 91, 82, 45, 92, 87, 92, 0.58},
		{0.25, 93, 83, 76, 37, 86, 79, 73, 0.43},
	}},
	{"service", 3000, []string{"tau_bench_airline_gpt4o", "agentdojo_banking_workspace"}, []bound{
		{0.6, 80, 60, 57, 13, 70, 0, 40, 0.87},
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
	dir := wiretest.LargerSet(t)
	adaptive := replay.Policy{Name: "adaptive", Policy: &compact.Policy{Name: "adaptive", Ladder: stage.Default()}}
	if os.Getenv("YARDSTICK_QUICK") != "" {
		adaptive.Policy.Records = trusted
	} else {
		adaptive.Claims = []string{"untouched", "paired", "fits", "kept", "stable", "idempotent", "never worse"}
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
		var chat []replay.Row
		for _, w := range append([]wire.Wire{nil}, wire.All...) {
			name := "recorded"
			if w != nil {
				name = w.Name()
			}
			o := replay.Options{Policies: policies, Known: func(string) (compact.Counter, compact.Limits) {
				return &messagesOnly{records: records{}}, compact.Limits{}
			}, MinPeak: h.minPeak}
			for _, n := range h.files {
				o.Files = append(o.Files, written(t, w, filepath.Join(dir, n+".jsonl")))
			}
			for _, b := range h.bounds {
				o.Budgets = append(o.Budgets, replay.Budget{Share: b.share})
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
					line(table, &f.Rows[i], name+", "+strings.TrimSuffix(filepath.Base(f.File), ".jsonl"))
				}
			}
			if w == wire.Chat {
				chat = res.Total.Rows
			}
			for i, b := range h.bounds {
				n := &res.Total.Rows[i*len(policies)].Numbers
				if w == nil {
					b.check(t, h.name, n)
				} else {
					alike(t, fmt.Sprintf("%s, %g × peak, %s", h.name, b.share, name), n, &chat[i*len(policies)].Numbers)
				}
			}
		}
	}
	table.Flush()
}

// written returns a file of conversations as they would be recorded of an API; nil: as
// they were. They have what all APIs say alike: texts, calls and results.
func written(t *testing.T, w wire.Wire, file string) string {
	t.Helper()
	if w == nil {
		return file
	}
	all := rig.ReadFile(t, file)
	var lines bytes.Buffer
	to := json.NewEncoder(&lines)
	for line := range bytes.Lines(all) {
		chat := said(t, line)
		record := map[string]any{"id": gjson.GetBytes(line, "id").String()}
		switch w {
		case wire.Messages:
			record["system"], record["messages"] = wiretest.Blocks(t, chat, false)
		case wire.Responses:
			record["input"], _ = wiretest.Items(t, chat, false)
		default:
			record["messages"] = json.RawMessage(gjson.GetBytes(chat, "messages").Raw)
		}
		if err := to.Encode(record); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	rig.WriteFile(t, path, lines.String())
	return path
}

// said returns a recorded conversation with one text a message, its calls, whose
// arguments are written as Go does, and nothing else.
func said(t *testing.T, line []byte) []byte {
	t.Helper()
	var chat struct {
		Messages []map[string]any `json:"messages"`
	}
	if err := json.Unmarshal(line, &chat); err != nil {
		t.Fatal(err)
	}
	for _, m := range chat.Messages {
		for key := range m {
			if key != "role" && key != "content" && key != "tool_calls" && key != "tool_call_id" {
				delete(m, key)
			}
		}
		if parts, ok := m["content"].([]any); ok {
			text := ""
			for _, p := range parts {
				if part, _ := p.(map[string]any); part["type"] == "text" {
					text += part["text"].(string)
				}
			}
			m["content"] = text
		}
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			f, _ := c.(map[string]any)["function"].(map[string]any)
			var arguments map[string]any
			if text, _ := f["arguments"].(string); json.Unmarshal([]byte(text), &arguments) == nil {
				again, _ := json.Marshal(arguments)
				f["arguments"] = string(again)
			}
		}
	}
	out, err := json.Marshal(chat)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// alike fails the test where what is kept of conversations of an API differs by more
// than half a point from what is kept of the same in the chat API.
func alike(t *testing.T, what string, n, chat *replay.Numbers) {
	t.Helper()
	shares := func(n *replay.Numbers) [5]float64 {
		return [...]float64{share(n.HardRecalled, n.Hard), share(n.HardVerbatim, n.Hard), share(n.EditsShown, n.Edits), n.LowRecall(), share(n.Fits, n.Over)}
	}
	got, want := shares(n), shares(chat)
	for i, name := range []string{"hard recall", "hard verbatim", "edits", "recall of the fifth percentile", "fits"} {
		least := 0.005
		if i == 3 { // of one conversation
			least = 0.07
		}
		if math.Abs(got[i]-want[i]) > least {
			t.Errorf("%s: %s %.1f %%, and %.1f of chat", what, name, 100*got[i], 100*want[i])
		}
	}
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
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
	f("verbatim", share(n.Verbatim, n.Facts), b.verbatim)
	f("hard recall", share(n.HardRecalled, n.Hard), b.hard)
	f("hard verbatim", share(n.HardVerbatim, n.Hard), b.hardVerbatim)
	f("calls", share(n.CallsWhole, n.Calls), b.calls)
	f("edits", share(n.EditsShown, n.Edits), b.edits)
	f("recall of the fifth percentile", n.LowRecall(), b.low)
	if n.Cost() > b.cost {
		t.Errorf("%s, %g × peak: cost %.3f, want at most %g", half, b.share, n.Cost(), b.cost)
	}
}
