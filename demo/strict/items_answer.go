package strict

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

type fields map[string]any

// answerItems replies to a request of the API of responses.
func (u *Upstream) answerItems(w http.ResponseWriter, r *http.Request, req *Request) {
	u.mu.Lock()
	script := u.o.Reply
	u.mu.Unlock()
	reply := script(req)
	said := u.o.Count(Message{Role: "assistant", Text: reply.Text, Calls: reply.Calls})
	u.mu.Lock()
	u.answers++
	number := u.answers
	cached := u.cache.Serve(req)
	u.mu.Unlock()

	response := fields{"id": fmt.Sprintf("resp_strict%d", number), "object": "response", "created_at": time.Now().Unix(), "model": req.Model, "error": nil}
	echo := map[string]json.RawMessage{}
	_ = json.Unmarshal(req.Body, &echo)
	for _, key := range []string{"instructions", "tools", "store", "tool_choice", "parallel_tool_calls"} {
		if v := echo[key]; v != nil {
			response[key] = v
		}
	}
	items := itemsOf(req, &reply, number)
	usage := fields{
		"input_tokens": req.PromptTokens(), "input_tokens_details": fields{"cached_tokens": cached},
		"output_tokens": said, "output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": req.PromptTokens() + said,
	}
	if req.Stream {
		u.streamItems(w, r, response, items, usage, reply.Break)
		return
	}
	if pause(r.Context(), u.o.Latency) {
		response["status"], response["output"], response["usage"] = "completed", items, usage
		send(w, http.StatusOK, indented(response))
	}
}

// itemsOf returns the items of an answer. Those that were written with reasoning say
// so in their ids.
func itemsOf(req *Request, reply *Reply, number int) (items []fields) {
	last := req.Messages[len(req.Messages)-1]
	if last.Role == "compaction_trigger" {
		return []fields{{"type": "compaction", "id": fmt.Sprintf("cmp_%d", number), "encrypted_content": "sealed"}}
	}
	thought := ""
	if req.reasons {
		thought = fmt.Sprintf("%s%d", thoughtOf, number)
		items = append(items, fields{
			"type": "reasoning", "id": fmt.Sprintf("%s%d", reasoningID, number), "summary": []any{},
			"encrypted_content": strings.Repeat("gAAAA", 30),
		})
	}
	if reply.Text != "" || reply.Calls == nil {
		items = append(items, fields{
			"type": "message", "id": fmt.Sprintf("msg%s_%d", thought, number), "role": "assistant", "status": "completed",
			"content": []fields{{"type": "output_text", "text": reply.Text, "annotations": []any{}}},
		})
	}
	for i, call := range reply.Calls {
		id := call.ID
		if id == "" {
			id = fmt.Sprintf("call_strict%07d%03d", number, i)
		}
		kind, key, prefix := "function_call", "arguments", "fc"
		if call.Type == "custom" {
			kind, key, prefix = "custom_tool_call", "input", "ctc"
		}
		items = append(items, fields{
			"type": kind, "id": fmt.Sprintf("%s%s_%d_%d", prefix, thought, number, i), "call_id": id, "name": call.Name, key: call.Arguments,
			"status": "completed",
		})
	}
	return items
}

// streamItems sends an answer as events, until the client leaves.
func (u *Upstream) streamItems(w http.ResponseWriter, r *http.Request, response fields, items []fields, usage fields, cut int) {
	var events []fields
	add := func(kind string, f fields) {
		f["type"], f["sequence_number"] = kind, len(events)
		events = append(events, f)
	}
	state := func(status string) fields {
		f := fields{"status": status, "output": []any{}, "usage": nil}
		for k, v := range response {
			f[k] = v
		}
		return f
	}
	add("response.created", fields{"response": state("in_progress")})
	add("response.in_progress", fields{"response": state("in_progress")})
	for n, item := range items {
		at := func(more fields) fields {
			more["output_index"], more["item_id"] = n, item["id"]
			return more
		}
		begun := fields{}
		for k, v := range item {
			begun[k] = v
		}
		switch item["type"] {
		case "message":
			begun["content"], begun["status"] = []any{}, "in_progress"
		case "function_call":
			begun["arguments"], begun["status"] = "", "in_progress"
		case "custom_tool_call":
			begun["input"], begun["status"] = "", "in_progress"
		}
		add("response.output_item.added", at(fields{"item": begun}))
		switch item["type"] {
		case "message":
			part := item["content"].([]fields)[0]
			text := part["text"].(string)
			add("response.content_part.added", at(fields{"content_index": 0, "part": fields{"type": "output_text", "text": "", "annotations": []any{}}}))
			for word := range strings.SplitAfterSeq(text, " ") {
				add("response.output_text.delta", at(fields{"content_index": 0, "delta": word, "logprobs": []any{}}))
			}
			add("response.output_text.done", at(fields{"content_index": 0, "text": text, "logprobs": []any{}}))
			add("response.content_part.done", at(fields{"content_index": 0, "part": part}))
		case "function_call":
			add("response.function_call_arguments.delta", at(fields{"delta": item["arguments"]}))
			add("response.function_call_arguments.done", at(fields{"arguments": item["arguments"], "name": item["name"]}))
		case "custom_tool_call":
			add("response.custom_tool_call_input.delta", at(fields{"delta": item["input"]}))
			add("response.custom_tool_call_input.done", at(fields{"input": item["input"]}))
		}
		add("response.output_item.done", at(fields{"item": item}))
	}
	end := state("completed")
	end["output"], end["usage"] = items, usage
	add("response.completed", fields{"response": end})

	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flusher := http.NewResponseController(w)
	for i, e := range events {
		if cut > 0 && i == cut {
			panic(http.ErrAbortHandler)
		}
		if i > 0 && !pause(r.Context(), u.o.Latency) {
			return
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], marshal(e)); err != nil || flusher.Flush() != nil {
			return
		}
	}
}
