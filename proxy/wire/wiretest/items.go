package wiretest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
)

type fields = map[string]any

// Items returns the items of a recorded chat conversation, as agents of the API of
// responses send it, and for each the chat message that it is of. An apply_patch is a
// custom tool's. reasons gives every answer reasoning of its own, which its ids name.
func Items(t testing.TB, chat []byte, reasons bool) (items []any, of []int) {
	t.Helper()
	custom, seen := map[string]bool{}, map[string]int{}
	now := map[string]string{} // id of a call: its id in the list, where none occurs twice
	for n, m := range recorded(t, chat).Conversation.Messages {
		add := func(f fields) { items, of = append(items, f), append(of, n) }
		text := textOf(&m)
		switch m.Role {
		case compact.Assistant:
			thought := ""
			if reasons && (text != "" || len(m.Calls) > 0) {
				thought = fmt.Sprintf("_rs%d", n)
				add(fields{"type": "reasoning", "id": fmt.Sprint("rs_", n), "summary": []any{}, "encrypted_content": strings.Repeat("gAAA", 20)})
			}
			if text != "" {
				add(fields{
					"type": "message", "id": fmt.Sprintf("msg%s_%d", thought, n), "role": "assistant", "status": "completed",
					"content": []any{fields{"type": "output_text", "text": text, "annotations": []any{}}},
				})
			}
			for i, c := range m.Calls {
				id, arguments := c.ID, c.Arguments.String()
				if seen[c.ID]++; seen[c.ID] > 1 {
					id = fmt.Sprintf("%s.%d", c.ID, seen[c.ID])
				}
				now[c.ID] = id
				f := fields{"type": "function_call", "id": fmt.Sprintf("fc%s_%d_%d", thought, n, i), "call_id": id, "name": c.Name, "arguments": arguments}
				var patch struct{ Input string }
				if custom[id] = c.Name == "apply_patch" && json.Unmarshal([]byte(arguments), &patch) == nil && patch.Input != ""; custom[id] {
					delete(f, "arguments")
					f["type"], f["input"] = "custom_tool_call", patch.Input
				}
				add(f)
			}
		case compact.Tool:
			kind, id := "function_call_output", now[m.Answers]
			if id == "" {
				id = m.Answers
			}
			if custom[id] {
				kind = "custom_tool_call_output"
			}
			add(fields{"type": kind, "call_id": id, "output": text})
		default:
			role := m.Role
			if role == compact.System {
				role = compact.Developer
			}
			add(fields{"type": "message", "role": role.String(), "content": []any{fields{"type": "input_text", "text": text}}})
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
	return body(t, f)
}

// body returns the JSON of fields as clients write them: in each object the type is
// first, so that nobody has to look for it.
func body(t testing.TB, f fields) []byte {
	t.Helper()
	b, err := json.Marshal(typed(f))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// typed returns a value with its objects as body wants them.
func typed(v any) any {
	switch v := v.(type) {
	case fields:
		o := make(object, len(v))
		for key, of := range v {
			o[key] = typed(of)
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = typed(v[i])
		}
		return list
	}
	return v
}

type object map[string]any

func (o object) MarshalJSON() ([]byte, error) {
	kind, has := o["type"]
	delete(o, "type")
	text, err := json.Marshal(map[string]any(o))
	switch {
	case !has || err != nil:
		return text, err
	case len(o) == 0:
		return fmt.Appendf(nil, `{"type":%q}`, kind), nil
	}
	return fmt.Appendf(nil, `{"type":%q,%s`, kind, text[1:]), nil
}
