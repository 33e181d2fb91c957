package strict

import (
	"fmt"
	"time"
)

func (t *turn) chatFields(kind string) fields {
	return fields{"id": fmt.Sprintf("chatcmpl-strict%d", t.number), "object": kind, "created": time.Now().Unix(), "model": t.Model}
}

func (t *turn) chatUsage() fields {
	return fields{
		"prompt_tokens": t.PromptTokens(), "completion_tokens": t.completion, "total_tokens": t.PromptTokens() + t.completion,
		"prompt_tokens_details": fields{"cached_tokens": t.cached},
	}
}

func (t *turn) finishReason() string {
	if len(t.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func chatCall(c *Call) fields {
	return fields{"id": c.ID, "type": "function", "function": fields{"name": c.Name, "arguments": c.Arguments}}
}

// completion is an answer as a whole.
func completion(t *turn) fields {
	message := fields{"role": "assistant"}
	if !t.silent() {
		message["content"] = t.Text
	}
	if t.thinking != nil {
		message["thinking_blocks"] = []any{t.thinking}
	}
	var calls []fields
	for i := range t.Calls {
		calls = append(calls, chatCall(&t.Calls[i]))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return t.chatFields("chat.completion").with(fields{
		"choices": []fields{{"index": 0, "message": message, "finish_reason": t.finishReason()}}, "usage": t.chatUsage(),
	})
}

// chunks is an answer as events, a word at a time. As at OpenAI, usage is sent only if
// asked for, in a last event without choices; all others then have "usage": null.
func chunks(t *turn) (events []event) {
	chunk := t.chatFields("chat.completion.chunk")
	if t.IncludeUsage {
		chunk["usage"] = nil
	}
	add := func(delta fields, finish any) {
		events = append(events, event{data: chunk.with(fields{"choices": []fields{{"index": 0, "delta": delta, "finish_reason": finish}}})})
	}
	first := fields{"role": "assistant"}
	if !t.silent() {
		first["content"] = ""
	}
	add(first, nil)
	if t.thinking != nil {
		add(fields{"thinking_blocks": []any{t.thinking}}, nil)
	}
	for _, word := range words(t.Text) {
		add(fields{"content": word}, nil)
	}
	for i, c := range t.Calls {
		arguments := c.Arguments
		c.Arguments = ""
		add(fields{"tool_calls": []fields{chatCall(&c).with(fields{"index": i})}}, nil)
		add(fields{"tool_calls": []fields{{"index": i, "function": fields{"arguments": arguments}}}}, nil)
	}
	add(fields{}, t.finishReason())
	if t.IncludeUsage {
		events = append(events, event{data: chunk.with(fields{"choices": []fields{}, "usage": t.chatUsage()})})
	}
	return append(events, event{data: "[DONE]"})
}
