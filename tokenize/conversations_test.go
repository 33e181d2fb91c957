package tokenize

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"laconic/proxy/wire/wiretest"
)

// Real agent conversations with the provider's own prompt sizes. Between its first and its last request a
// conversation grew by so many tokens; the estimate of what was added is compared with that. Texts that these logs
// lack (thinking, a client's own reminders) count against the estimate.
func TestEstimatesOfRealConversationsLeanToTheSafeSide(t *testing.T) {
	files, _ := filepath.Glob(wiretest.LargerSet(t) + "/*.jsonl")
	ratios := map[string][]float64{} // by family: estimate / billed
	for _, file := range files {
		for _, c := range recorded[recording](t, file) {
			if estimate, billed, ok := c.growth(); ok && !For(c.Model).Exact() { // exact counts have a test of their own
				family := For(c.Model).Family()
				ratios[family] = append(ratios[family], float64(estimate)/float64(billed))
			}
		}
	}
	if len(ratios) < 2 {
		t.Fatalf("only %d families have conversations with usage", len(ratios))
	}
	for family, all := range ratios {
		slices.Sort(all)
		median := all[len(all)/2]
		t.Logf("%s: %d conversations, estimate / billed: lowest %.2f, median %.2f, highest %.2f", family, len(all), all[0], median, all[len(all)-1])
		if median < 1 {
			t.Errorf("%s: half of the conversations are under-counted, median %.2f", family, median)
		}
		if all[0] < 0.9 { // callers start to fold at 0.85 of the budget where counts are estimates
			t.Errorf("%s: a conversation is under-counted to %.2f", family, all[0])
		}
	}
}

type message struct {
	Role      string
	Content   json.RawMessage
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// cost is what doc.go says a message costs. ok is false where it holds something other than text.
func (m *message) cost(c *Counter) (tokens int, ok bool) {
	var text string
	var parts []struct{ Type, Text string }
	if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &parts) == nil {
		for _, p := range parts {
			if p.Type != "text" {
				return 0, false
			}
			text += p.Text
		}
	}
	tokens = c.Envelope() + c.Text(text) + c.Text(m.Reasoning)
	if m.Role == "tool" {
		tokens += c.Result()
	}
	for _, call := range m.ToolCalls {
		tokens += c.Call() + c.Text(call.Function.Name) + c.Text(call.Function.Arguments)
	}
	return tokens, true
}

type recording struct {
	Model    string
	Messages []message
	Meta     struct {
		Usage       []usage
		Compactions []json.RawMessage
	}
}

type usage struct{ Message, Prompt, Reasoning int }

// growth gives estimate and bill of what was added between the first and the last request that has usage. ok is
// false for conversations that are short, hold pictures or were compacted by their client.
func (c *recording) growth() (estimate, billed int, ok bool) {
	known := slices.DeleteFunc(c.Meta.Usage, func(u usage) bool { return u.Prompt == 0 })
	if len(known) < 5 || len(c.Meta.Compactions) > 0 {
		return 0, 0, false
	}
	for i := range known[1:] {
		if known[i+1].Prompt < known[i].Prompt*9/10 {
			return 0, 0, false
		}
	}
	first, last := known[0], known[len(known)-1]
	counter := For(c.Model)
	for _, m := range c.Messages[first.Message:last.Message] {
		cost, ok := m.cost(counter)
		if !ok {
			return 0, 0, false
		}
		estimate += cost
	}
	billed = last.Prompt - first.Prompt
	return estimate, billed, billed >= 2_000
}

// From one request of a run of gpt-5.5 to the next the bill grows by what was said in between: the count of it, and the
// thinking of the model, whose tokens the log tells. That is so to the token, but for what stands around calls
// (estimate.go) and for steps in which the client took old thinking out or searched the web.
func TestExactCountsAgreeWithTheBillStepByStep(t *testing.T) {
	file := wiretest.LargerSet(t) + "/codex_cli_typescript.jsonl"
	steps, agree, counted, billed := 0, 0, 0, 0
	for _, c := range recorded[recording](t, file) {
		counter := For(c.Model)
		if !counter.Exact() {
			t.Fatalf("%s is not counted exactly", c.Model)
		}
		for i, u := range c.Meta.Usage[1:] {
			before := c.Meta.Usage[i]
			between := c.Messages[before.Message:u.Message]
			if u.Prompt == 0 || before.Prompt == 0 || between[len(between)-1].Role != "tool" {
				continue // where a user speaks, thinking is taken out
			}
			n := 0
			for _, m := range between {
				cost, _ := m.cost(counter)
				n += cost
			}
			bill := u.Prompt - before.Prompt - before.Reasoning
			steps++
			if d := n - bill; -12 <= d && d <= 12 {
				agree++
				counted, billed = counted+n, billed+bill
			}
		}
	}
	t.Logf("%d steps of %d agree to 12 tokens; in these %d tokens were counted and %d billed", agree, steps, counted, billed)
	if agree*100 < steps*75 {
		t.Errorf("only %d steps of %d agree to 12 tokens", agree, steps)
	}
	if counted*1000 < billed*995 || counted*100 > billed*101 {
		t.Errorf("in the steps that agree %d tokens were counted and %d billed", counted, billed)
	}
}

// recorded reads one value per line.
func recorded[T any](t *testing.T, file string) (all []T) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
