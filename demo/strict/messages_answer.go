package strict

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// messageUsage is what an answer costs; what was cached is not among the input.
type messageUsage struct {
	Input   int `json:"input_tokens"`
	Written int `json:"cache_creation_input_tokens"`
	Cached  int `json:"cache_read_input_tokens"`
	Output  int `json:"output_tokens"`
}

// message is a whole answer.
type message struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Role         string           `json:"role"`
	Model        string           `json:"model"`
	Content      []map[string]any `json:"content"`
	StopReason   *string          `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        messageUsage     `json:"usage"`
}

// answerMessage answers a request of the messages API.
func (u *Upstream) answerMessage(w http.ResponseWriter, r *http.Request, req *Request) {
	u.mu.Lock()
	script := u.o.Reply
	u.mu.Unlock()
	reply := script(req)
	said := u.o.Count(Message{Role: "assistant", Text: reply.Text, Calls: reply.Calls})
	u.mu.Lock()
	u.answers++
	number, cached := u.answers, u.cache.Serve(req)
	u.mu.Unlock()

	m := message{
		ID: fmt.Sprintf("msg_strict%d", number), Type: "message", Role: "assistant", Model: req.Model, Content: []map[string]any{},
		Usage: messageUsage{Input: req.PromptTokens() - cached, Cached: cached, Output: said},
	}
	stop := "end_turn"
	if u.o.Thinks != nil {
		if thought := u.o.Thinks(req); thought != "" {
			b, _ := bindBlocks(req.Body, thought)
			m.Content = append(m.Content, map[string]any{"type": b.Type, "thinking": b.Thinking, "signature": b.Signature})
		}
	}
	if reply.Text != "" || reply.Calls == nil {
		m.Content = append(m.Content, map[string]any{"type": "text", "text": reply.Text})
	}
	for i, call := range reply.Calls {
		if call.ID == "" {
			call.ID = fmt.Sprintf("toolu_strict%07d%03d", number, i)
		}
		m.Content = append(m.Content, map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": json.RawMessage(call.Arguments)})
		stop = "tool_use"
	}
	if req.Stream {
		u.streamMessage(w, r.Context(), m, stop, reply.Break)
		return
	}
	if pause(r.Context(), u.o.Latency) {
		m.StopReason = &stop
		send(w, http.StatusOK, indented(m))
	}
}

// streamMessage sends an answer as events, and cuts the connection after some if cut
// says so.
func (u *Upstream) streamMessage(w http.ResponseWriter, gone context.Context, m message, stop string, cut int) {
	var events [][2]string
	add := func(kind string, fields map[string]any) {
		fields["type"] = kind
		events = append(events, [2]string{kind, string(marshal(fields))})
	}
	start, said := m, m.Usage.Output
	start.Content, start.Usage.Output = []map[string]any{}, 1
	add("message_start", map[string]any{"message": start})
	add("ping", map[string]any{})
	for i, b := range m.Content {
		empty, deltas := pieces(b)
		add("content_block_start", map[string]any{"index": i, "content_block": empty})
		for _, d := range deltas {
			add("content_block_delta", map[string]any{"index": i, "delta": d})
		}
		add("content_block_stop", map[string]any{"index": i})
	}
	add("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": said}})
	add("message_stop", map[string]any{})

	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flusher := http.NewResponseController(w)
	for i, e := range events {
		if cut > 0 && i == cut {
			panic(http.ErrAbortHandler) // net/http cuts the connection: the client sees a broken answer
		}
		if i > 0 && !pause(gone, u.o.Latency) {
			return
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e[0], e[1]); err != nil || flusher.Flush() != nil {
			return
		}
	}
}

// pieces returns a block as it begins, and what completes it.
func pieces(b map[string]any) (empty map[string]any, deltas []map[string]any) {
	switch b["type"] {
	case "text":
		for word := range strings.SplitAfterSeq(b["text"].(string), " ") {
			if word != "" {
				deltas = append(deltas, map[string]any{"type": "text_delta", "text": word})
			}
		}
		return map[string]any{"type": "text", "text": ""}, deltas
	case "thinking":
		return map[string]any{"type": "thinking", "thinking": "", "signature": ""}, []map[string]any{
			{"type": "thinking_delta", "thinking": b["thinking"]}, {"type": "signature_delta", "signature": b["signature"]},
		}
	}
	for piece := range slices.Chunk([]rune(string(b["input"].(json.RawMessage))), 24) {
		deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": string(piece)})
	}
	return map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}, deltas
}
