package strict

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// response is an answer as a whole. It echoes what the request says beside its input.
func response(t *turn) fields {
	all := fields{
		"id": fmt.Sprintf("resp_strict%d", t.number), "object": "response", "created_at": time.Now().Unix(), "model": t.Model, "error": nil,
		"status": "completed", "output": t.items(), "usage": fields{
			"input_tokens": t.PromptTokens(), "input_tokens_details": fields{"cached_tokens": t.cached},
			"output_tokens": t.completion, "output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": t.PromptTokens() + t.completion,
		},
	}
	echo := map[string]json.RawMessage{}
	_ = json.Unmarshal(t.Body, &echo)
	for _, key := range []string{"instructions", "tools", "store", "tool_choice", "parallel_tool_calls"} {
		if v := echo[key]; v != nil {
			all[key] = v
		}
	}
	return all
}

// items returns the items of an answer. Those that were written with reasoning say so
// in their ids.
func (t *turn) items() (items []fields) {
	if t.Messages[len(t.Messages)-1].Role == "compaction_trigger" {
		return []fields{{"type": "compaction", "id": fmt.Sprintf("cmp_%d", t.number), "encrypted_content": "sealed"}}
	}
	thought := ""
	if t.reasons {
		thought = fmt.Sprintf("%s%d", thoughtOf, t.number)
		items = append(items, fields{
			"type": "reasoning", "id": fmt.Sprintf("%s%d", reasoningID, t.number), "summary": []any{},
			"encrypted_content": strings.Repeat("gAAAA", 30),
		})
	}
	if !t.silent() {
		items = append(items, fields{
			"type": "message", "id": fmt.Sprintf("msg%s_%d", thought, t.number), "role": "assistant", "status": "completed",
			"content": []fields{{"type": "output_text", "text": t.Text, "annotations": []any{}}},
		})
	}
	for i, call := range t.Calls {
		kind, key, prefix := "function_call", "arguments", "fc"
		if call.Type == "custom" {
			kind, key, prefix = "custom_tool_call", "input", "ctc"
		}
		items = append(items, fields{
			"type": kind, "id": fmt.Sprintf("%s%s_%d_%d", prefix, thought, t.number, i), "call_id": call.ID, "name": call.Name, key: call.Arguments,
			"status": "completed",
		})
	}
	return items
}

// responseEvents is an answer as events.
func responseEvents(t *turn) (events []event) {
	add := func(kind string, f fields) {
		events = append(events, event{kind, f.with(fields{"type": kind, "sequence_number": len(events)})})
	}
	end := response(t)
	begun := end.with(fields{"status": "in_progress", "output": []any{}, "usage": nil})
	add("response.created", fields{"response": begun})
	add("response.in_progress", fields{"response": begun})
	for n, item := range end["output"].([]fields) {
		at := fields{"output_index": n, "item_id": item["id"]}
		piece := func(kind string, more fields) { add(kind, at.with(more)) }
		switch item["type"] {
		case "message":
			part := item["content"].([]fields)[0]
			piece("response.output_item.added", fields{"item": item.with(fields{"content": []any{}, "status": "in_progress"})})
			piece("response.content_part.added", fields{"content_index": 0, "part": part.with(fields{"text": ""})})
			for _, word := range words(t.Text) {
				piece("response.output_text.delta", fields{"content_index": 0, "delta": word, "logprobs": []any{}})
			}
			piece("response.output_text.done", fields{"content_index": 0, "text": t.Text, "logprobs": []any{}})
			piece("response.content_part.done", fields{"content_index": 0, "part": part})
		case "function_call":
			piece("response.output_item.added", fields{"item": item.with(fields{"arguments": "", "status": "in_progress"})})
			piece("response.function_call_arguments.delta", fields{"delta": item["arguments"]})
			piece("response.function_call_arguments.done", fields{"arguments": item["arguments"], "name": item["name"]})
		case "custom_tool_call":
			piece("response.output_item.added", fields{"item": item.with(fields{"input": "", "status": "in_progress"})})
			piece("response.custom_tool_call_input.delta", fields{"delta": item["input"]})
			piece("response.custom_tool_call_input.done", fields{"input": item["input"]})
		default:
			piece("response.output_item.added", fields{"item": item})
		}
		piece("response.output_item.done", fields{"item": item})
	}
	add("response.completed", fields{"response": end})
	return events
}
