package strict

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestThinkingIsBoundToWhatStoodBeforeIt: the rules that Anthropic documents.
func TestThinkingIsBoundToWhatStoodBeforeIt(t *testing.T) {
	u := New(Options{Thinks: func(*Request) string { return "so" }})
	const head = `{"model":"m","messages":[{"role":"user","content":"go"}`
	blocks := func(body string) string {
		b, refusal := bind([]byte(body), "so")
		if refusal != nil {
			t.Fatalf("%v: %s", refusal, body)
		}
		raw, _ := json.Marshal([]thinkingBlock{b})
		return string(raw)
	}
	says := func(thinking string) string {
		if thinking != "" {
			thinking = `,"thinking_blocks":` + thinking
		}
		return `,{"role":"assistant","content":"on"` + thinking + `},{"role":"user","content":"and"}`
	}
	one := blocks(head + "]}")
	two := blocks(head + says(one) + "]}")
	three := blocks(head + says(one) + says(two) + "]}")
	all := head + says(one) + says(two) + says(three) + "]}"
	for _, c := range []struct {
		name, body string
		refused    bool
	}{
		{"as it was", all, false},
		{"the oldest is away", head + says("") + says(two) + says(three) + "]}", false},
		{"all are away", head + says("") + says("") + says("") + "]}", false},
		{"one of the middle is away", head + says(one) + says("") + says(three) + "]}", true},
		{"the newest is away", head + says(one) + says(two) + says("") + "]}", false},
		{"written without the oldest, which came back", head + says(one) + says(blocks(head+says("")+"]}")) + "]}", true},
		{"another system prompt", strings.Replace(all, `[{"role":"user"`, `[{"role":"system","content":"x"},{"role":"user"`, 1), true},
		{"another first message", strings.Replace(all, `"go"`, `"go!"`, 1), true},
		{"other tools", strings.Replace(all, `{"model"`, `{"tools":[{"type":"function","function":{"name":"f"}}],"model"`, 1), true},
		{"another model", strings.Replace(all, `"m"`, `"n"`, 1), true},
		{"a mark of a cache", strings.Replace(all, `"content":"go"`, `"content":"go","cache_control":{"type":"ephemeral"}`, 1), false},
		{"other thinking", strings.Replace(all, `"so"`, `"no"`, 1), true},
		{"a change behind it", strings.Replace(all, `"on","thinking_blocks":`+three, `"on!","thinking_blocks":`+three, 1), false},
	} {
		r := u.Check("/chat/completions", []byte(c.body))
		if c.refused != (r != nil) || r != nil && (r.Kind != KindThinking || !strings.Contains(r.Message, "bound to a different conversation")) {
			t.Errorf("%s: %v", c.name, r)
		}
	}
	if r := New(Options{}).Check("/chat/completions", []byte(strings.Replace(all, `"go"`, `"go!"`, 1))); r != nil {
		t.Errorf("without Thinks: %v", r)
	}
}
