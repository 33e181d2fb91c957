package wiretest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"laconic/compact"
)

// Fields are those of an item or a block. Their type is written first, as clients do, so
// that nobody has to look for it.
type Fields map[string]any

// MarshalJSON implements json.Marshaler.
func (f Fields) MarshalJSON() ([]byte, error) {
	rest := maps.Clone(map[string]any(f))
	delete(rest, "type")
	text, err := json.Marshal(rest)
	kind, has := f["type"]
	switch {
	case !has || err != nil:
		return text, err
	case len(rest) == 0:
		return fmt.Appendf(nil, `{"type":%q}`, kind), nil
	}
	return fmt.Appendf(nil, `{"type":%q,%s`, kind, text[1:]), nil
}

// Items returns the items of a recorded chat conversation, as agents of the API of
// responses send it, and for each the chat message that it is of. An apply_patch is a
// custom tool's. reasons gives every answer reasoning of its own, which its ids name.
func Items(t testing.TB, chat []byte, reasons bool) (items []any, of []int) {
	t.Helper()
	custom, seen := map[string]bool{}, map[string]int{}
	now := map[string]string{} // id of a call: its id in the list, where none occurs twice
	for n, m := range recorded(t, chat).Conversation.Messages {
		add := func(f Fields) { items, of = append(items, f), append(of, n) }
		text := textOf(&m)
		switch m.Role {
		case compact.Assistant:
			thought := ""
			if reasons && (text != "" || len(m.Calls) > 0) {
				thought = fmt.Sprintf("_rs%d", n)
				add(Fields{"type": "reasoning", "id": fmt.Sprint("rs_", n), "summary": []any{}, "encrypted_content": strings.Repeat("gAAA", 20)})
			}
			if text != "" {
				add(Fields{
					"type": "message", "id": fmt.Sprintf("msg%s_%d", thought, n), "role": "assistant", "status": "completed",
					"content": []any{Fields{"type": "output_text", "text": text, "annotations": []any{}}},
				})
			}
			for i, c := range m.Calls {
				id, arguments := c.ID, c.Arguments.String()
				if seen[c.ID]++; seen[c.ID] > 1 {
					id = fmt.Sprintf("%s.%d", c.ID, seen[c.ID])
				}
				now[c.ID] = id
				f := Fields{"type": "function_call", "id": fmt.Sprintf("fc%s_%d_%d", thought, n, i), "call_id": id, "name": c.Name, "arguments": arguments}
				var patch struct{ Input string }
				if custom[id] = c.Name == "apply_patch" && json.Unmarshal([]byte(arguments), &patch) == nil && patch.Input != ""; custom[id] {
					delete(f, "arguments")
					f["type"], f["input"] = "custom_tool_call", patch.Input
				}
				add(f)
			}
		case compact.Tool:
			kind, id := "function_call_output", cmp.Or(now[m.Answers], m.Answers)
			if custom[id] {
				kind = "custom_tool_call_output"
			}
			add(Fields{"type": kind, "call_id": id, "output": text})
		default:
			role := m.Role
			if role == compact.System {
				role = compact.Developer
			}
			add(Fields{"type": "message", "role": role.String(), "content": []any{Fields{"type": "input_text", "text": text}}})
		}
	}
	return items, of
}

// ItemsBody returns a request of the API of responses with some items.
func ItemsBody(t testing.TB, items []any) []byte {
	t.Helper()
	return body(t, Fields{"model": "gpt-5", "input": items, "store": false, "include": []any{"reasoning.encrypted_content"}})
}

func body(t testing.TB, f Fields) []byte {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
