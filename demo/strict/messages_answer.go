package strict

import (
	"encoding/json"
	"fmt"
)

// message is an answer as a whole. What was cached is not among the input.
func message(t *turn) fields {
	content := []fields{}
	if b := t.thinking; b != nil {
		content = append(content, fields{"type": b.Type, "thinking": b.Thinking, "signature": b.Signature})
	}
	if !t.silent() {
		content = append(content, fields{"type": "text", "text": t.Text})
	}
	stop := "end_turn"
	for _, call := range t.Calls {
		content = append(content, fields{"type": "tool_use", "id": call.ID, "name": call.Name, "input": json.RawMessage(call.Arguments)})
		stop = "tool_use"
	}
	return fields{
		"id": fmt.Sprintf("msg_strict%d", t.number), "type": "message", "role": "assistant", "model": t.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": fields{
			"input_tokens": t.PromptTokens() - t.cached, "cache_creation_input_tokens": 0, "cache_read_input_tokens": t.cached, "output_tokens": t.completion,
		},
	}
}

// messageEvents is an answer as events.
func messageEvents(t *turn) (events []event) {
	add := func(kind string, f fields) { events = append(events, event{kind, f.with(fields{"type": kind})}) }
	end := message(t)
	add("message_start", fields{"message": end.with(fields{
		"content": []any{}, "stop_reason": nil, "usage": end["usage"].(fields).with(fields{"output_tokens": 1}),
	})})
	add("ping", fields{})
	for i, b := range end["content"].([]fields) {
		empty, deltas := blockEvents(b)
		add("content_block_start", fields{"index": i, "content_block": b.with(empty)})
		for _, d := range deltas {
			add("content_block_delta", fields{"index": i, "delta": d})
		}
		add("content_block_stop", fields{"index": i})
	}
	add("message_delta", fields{
		"delta": fields{"stop_reason": end["stop_reason"], "stop_sequence": nil}, "usage": fields{"output_tokens": t.completion},
	})
	add("message_stop", fields{})
	return events
}

// blockEvents returns what a block begins with, and what completes it.
func blockEvents(b fields) (empty fields, deltas []fields) {
	switch b["type"] {
	case "text":
		for _, word := range words(b["text"].(string)) {
			deltas = append(deltas, fields{"type": "text_delta", "text": word})
		}
		return fields{"text": ""}, deltas
	case "thinking":
		return fields{"thinking": "", "signature": ""},
			[]fields{{"type": "thinking_delta", "thinking": b["thinking"]}, {"type": "signature_delta", "signature": b["signature"]}}
	}
	return fields{"input": fields{}}, []fields{{"type": "input_json_delta", "partial_json": string(b["input"].(json.RawMessage))}}
}
