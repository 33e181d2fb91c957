package wire_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomItems is the body of a request with items of every type, in any order.
func randomItems(r *rand.Rand) string {
	text := func() string { return strings.Repeat("word ", 1+r.IntN(60)) }
	id := func() string { return fmt.Sprintf("call_%d", r.IntN(12)) }
	var items []string
	for n := range 2 + r.IntN(40) {
		switch r.IntN(16) {
		case 0, 1:
			items = append(items, fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text()))
		case 2:
			items = append(items, fmt.Sprintf(`{ "role":"user", "content":%q }`, text()))
		case 3:
			items = append(items, fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","content":[{"type":"output_text","text":%q},{"type":"refusal","refusal":"no"}]}`, n, text()))
		case 4:
			items = append(items, fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[{"type":"summary_text","text":%q}]}`, n, text()))
		case 5, 6, 7:
			items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"f","arguments":"{\"text\":\"%s\"}"}`, id(), text()))
			if r.IntN(8) == 0 {
				items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":"async_%d","name":"f","arguments":%q,"async":true}`, n, text()))
			}
		case 8:
			items = append(items, fmt.Sprintf(`{"type":"custom_tool_call","call_id":%q,"name":"apply_patch","input":%q}`, id(), text()))
		case 9, 10, 11:
			items = append(items, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id(), text()))
		case 12:
			items = append(items, fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":%q,"output":[{"type":"input_text","text":%q},{"type":"input_image","image_url":"data:x"}]}`, id(), text()))
		case 13:
			items = append(items, `{"type":"web_search_call","id":"ws","status":"completed"}`, `{"type":"shell_call","call_id":"s`+fmt.Sprint(n)+`","action":{}}`)
		case 14:
			items = append(items, `{"type":"additional_tools","role":"developer","tools":[]}`)
		case 15:
			if r.IntN(3) == 0 {
				items = append(items, `{"type":"compaction","encrypted_content":"x"}`)
			} else {
				items = append(items, fmt.Sprintf(`{"type":"message","role":"developer","content":%q}`, text()))
			}
		}
	}
	return `{"model":"m","input":[` + strings.Join(items, " , ") + `],"store":false,"instructions":"be brief"}`
}

// randomBlocks is the body of a request with blocks of every type, in any order.
func randomBlocks(r *rand.Rand) string {
	text := func() string { return strings.Repeat("word ", 1+r.IntN(60)) }
	id := func() string { return fmt.Sprintf("toolu_%d", r.IntN(12)) }
	mark := func() string { return []string{"", "", "", `,"cache_control":{"type":"ephemeral"}`}[r.IntN(4)] }
	block := func(role string) string {
		switch n := r.IntN(10); {
		case n < 4 && role == "assistant":
			return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"f","input":{"text":%q}%s}`, id(), text(), mark())
		case n < 4 && role == "user":
			return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":[{"type":"text","text":%q}]%s}`, id(), text(), mark())
		case n == 4 && role == "user":
			return fmt.Sprintf(`{"type":"tool_result", "tool_use_id":%q,"content":%q,"is_error":true}`, id(), text())
		case n == 4 && role == "assistant":
			return fmt.Sprintf(`{"type":"thinking","thinking":%q,"signature":%q}`, text(), []string{"", "Eq"}[r.IntN(2)])
		case n == 5:
			return `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`
		case n == 6:
			return `{"type":"server_tool_use","id":"srv","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srv","content":[]}`
		case n == 7 && role == "user":
			return fmt.Sprintf(`{"type":"text","text":"<system-reminder>%s</system-reminder>"}`, text())
		}
		return fmt.Sprintf(`{ "type":"text","text":%q%s}`, text(), mark())
	}
	var list []string
	for range 2 + r.IntN(30) {
		role := []string{"user", "assistant", "user", "assistant", "system"}[r.IntN(5)]
		if r.IntN(4) == 0 {
			list = append(list, fmt.Sprintf(`{"role":%q, "content":%q}`, role, text()))
			continue
		}
		var blocks []string
		for range 1 + r.IntN(4) {
			blocks = append(blocks, block(role))
		}
		list = append(list, fmt.Sprintf(`{"content":[%s],"role":%q}`, strings.Join(blocks, " , "), role))
	}
	return `{"model":"m","max_tokens":100,"system":"be brief","messages":[` + strings.Join(list, ",\n") + `]}`
}
