package compacttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type fields = map[string]any

// Items returns the items of a recorded chat conversation, as agents of the API of
// responses send it, and for each the chat message that it is of. An apply_patch is a
// custom tool's. reasons gives every answer reasoning of its own, which its ids name.
func Items(t testing.TB, chat []byte, reasons bool) (items []any, of []int) {
	t.Helper()
	var body struct{ Messages []recordedMessage }
	if err := json.Unmarshal(chat, &body); err != nil {
		t.Fatal(err)
	}
	custom, seen := map[string]bool{}, map[string]int{}
	now := map[string]string{} // id of a call: its id in the list, where none occurs twice
	for n, m := range body.Messages {
		add := func(f fields) { items, of = append(items, f), append(of, n) }
		msg, err := m.message()
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, p := range msg.Parts {
			text.WriteString(p.Text.String())
		}
		switch m.Role {
		case "assistant":
			thought := ""
			if reasons && (text.Len() > 0 || len(m.ToolCalls) > 0) {
				thought = fmt.Sprintf("_rs%d", n)
				add(fields{"type": "reasoning", "id": fmt.Sprint("rs_", n), "summary": []any{}, "encrypted_content": strings.Repeat("gAAA", 20)})
			}
			if text.Len() > 0 {
				add(fields{
					"type": "message", "id": fmt.Sprintf("msg%s_%d", thought, n), "role": "assistant", "status": "completed",
					"content": []any{fields{"type": "output_text", "text": text.String(), "annotations": []any{}}},
				})
			}
			for i, c := range m.ToolCalls {
				id := c.ID
				if seen[c.ID]++; seen[c.ID] > 1 {
					id = fmt.Sprintf("%s.%d", c.ID, seen[c.ID])
				}
				now[c.ID] = id
				f := fields{"type": "function_call", "id": fmt.Sprintf("fc%s_%d_%d", thought, n, i), "call_id": id, "name": c.Function.Name, "arguments": c.Function.Arguments}
				var patch struct{ Input string }
				if custom[id] = c.Function.Name == "apply_patch" && json.Unmarshal([]byte(c.Function.Arguments), &patch) == nil && patch.Input != ""; custom[id] {
					delete(f, "arguments")
					f["type"], f["input"] = "custom_tool_call", patch.Input
				}
				add(f)
			}
		case "tool":
			kind, id := "function_call_output", now[m.ToolCallID]
			if id == "" {
				id = m.ToolCallID
			}
			if custom[id] {
				kind = "custom_tool_call_output"
			}
			add(fields{"type": kind, "call_id": id, "output": text.String()})
		default:
			role := m.Role
			if role == "system" {
				role = "developer"
			}
			add(fields{"type": "message", "role": role, "content": []any{fields{"type": "input_text", "text": text.String()}}})
		}
	}
	return items, of
}

// ItemsBody returns a request of the API of responses with some items.
func ItemsBody(t testing.TB, items []any, tools json.RawMessage) []byte {
	t.Helper()
	f := fields{"model": "gpt-5", "input": items, "store": false, "include": []any{"reasoning.encrypted_content"}}
	if tools != nil {
		f["tools"] = tools
	}
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
