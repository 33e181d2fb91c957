package strict_test

import (
	"encoding/json"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// TestItemsThatBreakARule: each list is refused for one reason, in OpenAI's words.
func TestItemsThatBreakARule(t *testing.T) {
	const (
		hi    = `{"type":"message","role":"user","content":"hi"}`
		call  = `{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}"}`
		out   = `{"type":"function_call_output","call_id":"a","output":"x"}`
		think = `{"type":"reasoning","id":"rs_7","summary":[]}`
		text  = `{"type":"message","id":"msg_rs7_1","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`
	)
	for _, c := range []struct{ items, want string }{
		{hi + "," + call + "," + out + "," + think + "," + text, ""},
		{hi, ""},
		{hi + "," + call, "No tool output found for function call a."},
		{hi + "," + out, "No tool call found for function call output with call_id a."},
		{call + "," + strings.Replace(out, "function_call_output", "custom_tool_call_output", 1), "No tool call found for custom tool call output with call_id a."},
		{call + "," + out + "," + out, "Duplicate tool output found for call_id a."},
		{call + "," + out + "," + strings.Replace(call, `"fc_1"`, `"fc_2"`, 1), "Duplicate tool call found with call_id a."},
		{call + "," + call + "," + out, "Duplicate item found with id fc_1. Remove duplicate items from your input and try again."},
		{think + "," + hi, "Item 'rs_7' of type 'reasoning' was provided without its required following item."},
		{hi + "," + text, "Item 'msg_rs7_1' of type 'assistant' was provided without its required 'reasoning' item: 'rs_7'."},
		{`{"type":"wish"}`, "Invalid value: 'wish'."},
		{strings.Replace(call, `"a"`, `""`, 1), "Invalid 'input[0].call_id': expected a string of 1 to 64 characters, but got 0."},
		{`{"type":"compaction_trigger"},` + hi, "Item of type 'compaction_trigger' must be the last."},
		{`{"type":"message","role":"user","content":"` + strings.Repeat("x", 700) + `"}`, "This model's maximum context length is 100 tokens. However, your messages resulted in 208 tokens. Please reduce the length of the messages."},
	} {
		got := ""
		if _, no := strict.New(strict.Options{Limit: 100}).Read("/responses", []byte(`{"model":"m","input":[`+c.items+`]}`)); no != nil {
			got = no.Message
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.items, got, c.want)
		}
	}
}

// TestAnswersAsItems: an answer is what a client sends back, and a stream opens with
// events that echo the request.
func TestAnswersAsItems(t *testing.T) {
	up := strict.New(strict.Options{Reply: func(*strict.Request) strict.Reply {
		return strict.Reply{Text: "Let me look.", Calls: []strict.Call{{Name: "f", Arguments: "{}"}, {Type: "custom", Name: "apply_patch", Arguments: "*** Begin"}}}
	}})
	ask := func(more string) string {
		t.Helper()
		return taken(t, up, "/v1/responses", `{"model":"m","instructions":"be brief","include":["reasoning.encrypted_content"],"input":"hi"`+more+`}`)
	}
	var whole struct {
		Output []json.RawMessage
		Usage  struct {
			Input int `json:"input_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(ask("")), &whole); err != nil || len(whole.Output) != 4 || whole.Usage.Input != 20 {
		t.Fatalf("%v: %d items, usage %+v", err, len(whole.Output), whole.Usage)
	}
	items := `{"role":"user","content":"hi"}`
	for _, item := range whole.Output {
		items += "," + string(item)
	}
	items += `,{"type":"function_call_output","call_id":"call_strict0000001000","output":"x"},{"type":"custom_tool_call_output","call_id":"call_strict0000001001","output":"x"}`
	if _, no := up.Read("/responses", []byte(`{"model":"m","input":[`+items+`]}`)); no != nil {
		t.Error(no)
	}
	var kinds []string
	stream := ask(`,"stream":true`)
	for line := range strings.Lines(stream) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			kinds = append(kinds, strings.TrimSpace(kind))
		}
	}
	if n := len(kinds); n < 15 || kinds[0] != "response.created" || kinds[1] != "response.in_progress" || kinds[n-1] != "response.completed" {
		t.Errorf("events %v", kinds)
	}
	if first, _, _ := strings.Cut(stream, "\n\n"); !strings.Contains(first, "be brief") {
		t.Errorf("the first event echoes nothing: %s", first)
	}
}
