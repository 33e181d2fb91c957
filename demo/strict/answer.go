package strict

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Reply is the answer to one request.
type Reply struct {
	Text  string
	Calls []Call // an empty ID gets one
	// Break is the number of events after which the connection of a stream is
	// cut, as by a dying server; 0 means never.
	Break int
}

// Usage is OpenAI's usage object.
type Usage struct {
	PromptTokens        int           `json:"prompt_tokens"`
	CompletionTokens    int           `json:"completion_tokens"`
	TotalTokens         int           `json:"total_tokens"`
	PromptTokensDetails PromptDetails `json:"prompt_tokens_details"`
}

// PromptDetails holds how much of a prompt came from the cache.
type PromptDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

// completion is an answer, or one event of a stream.
type completion struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage,omitempty"`
}

type choice struct {
	Index        int     `json:"index"`
	Message      *answer `json:"message,omitempty"`
	Delta        *answer `json:"delta,omitempty"`
	FinishReason *string `json:"finish_reason"`
}

// answer is a message of the model, or a piece of one.
type answer struct {
	Role      string          `json:"role,omitempty"`
	Content   *string         `json:"content,omitempty"`
	ToolCalls []toolCall      `json:"tool_calls,omitempty"`
	Thinking  []thinkingBlock `json:"thinking_blocks,omitempty"`
}

type toolCall struct {
	Index    *int   `json:"index,omitempty"` // in streams only
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// answer replies to a request.
func (u *Upstream) answer(w http.ResponseWriter, r *http.Request, req *Request) {
	u.mu.Lock()
	script := u.o.Reply
	u.mu.Unlock()
	reply := script(req)
	reply.Calls = slices.Clone(reply.Calls) // the script may use the same slice again
	said := u.o.Count(Message{Role: "assistant", Text: reply.Text, Calls: reply.Calls})
	usage := Usage{PromptTokens: req.PromptTokens(), CompletionTokens: said, TotalTokens: req.PromptTokens() + said}
	u.mu.Lock()
	u.answers++
	number := u.answers
	usage.PromptTokensDetails.CachedTokens = u.cache.Serve(req)
	u.mu.Unlock()

	c := completion{ID: fmt.Sprintf("chatcmpl-strict%d", number), Object: "chat.completion", Created: time.Now().Unix(), Model: req.Model}
	message := answer{Role: "assistant"}
	finish := "stop"
	if reply.Text != "" || reply.Calls == nil {
		message.Content = &reply.Text
	}
	if u.o.Thinks != nil {
		if thought := u.o.Thinks(req); thought != "" {
			b, _ := bind(req.Body, thought)
			message.Thinking = []thinkingBlock{b}
		}
	}
	for i, call := range reply.Calls {
		sent := toolCall{ID: call.ID, Type: "function"}
		if sent.ID == "" {
			sent.ID = fmt.Sprintf("call_strict%07d%03d", number, i)
		}
		sent.Function.Name, sent.Function.Arguments = call.Name, call.Arguments
		message.ToolCalls = append(message.ToolCalls, sent)
		finish = "tool_calls"
	}
	if req.Stream {
		u.stream(w, r.Context(), c, message, finish, reply.Break, req.IncludeUsage, usage)
		return
	}
	if pause(r.Context(), u.o.Latency) {
		c.Choices, c.Usage = []choice{{Message: &message, FinishReason: &finish}}, marshal(usage)
		send(w, http.StatusOK, indented(c))
	}
}

// stream sends an answer as server-sent events, a word at a time, until the
// client leaves. As at OpenAI, usage is sent only if asked for, in a last event
// without choices; all others then have "usage": null.
func (u *Upstream) stream(w http.ResponseWriter, gone context.Context, c completion, message answer, finish string, cut int, includeUsage bool, usage Usage) {
	c.Object = "chat.completion.chunk"
	if includeUsage {
		c.Usage = json.RawMessage("null")
	}
	var events [][]byte
	add := func(choices ...choice) {
		c.Choices = choices
		events = append(events, marshal(c))
	}
	for _, d := range deltas(message) {
		add(choice{Delta: &d})
	}
	add(choice{Delta: &answer{}, FinishReason: &finish})
	if includeUsage {
		c.Usage = marshal(usage)
		add([]choice{}...)
	}
	events = append(events, []byte("[DONE]"))

	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flusher := http.NewResponseController(w)
	for i, e := range events {
		if cut > 0 && i == cut {
			panic(http.ErrAbortHandler) // net/http cuts the connection: the client sees a broken answer
		}
		if i > 0 && !pause(gone, u.o.Latency) {
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", e); err != nil || flusher.Flush() != nil {
			return
		}
	}
}

// deltas cuts an answer into the pieces that a model would send.
func deltas(m answer) []answer {
	empty := ""
	first := answer{Role: m.Role}
	if m.Content != nil {
		first.Content = &empty
	}
	pieces := []answer{first}
	if m.Thinking != nil {
		pieces = append(pieces, answer{Thinking: m.Thinking})
	}
	if m.Content != nil {
		for word := range strings.SplitAfterSeq(*m.Content, " ") {
			if word != "" {
				pieces = append(pieces, answer{Content: &word})
			}
		}
	}
	for i, call := range m.ToolCalls {
		arguments := []rune(call.Function.Arguments)
		call.Index, call.Function.Arguments = &i, ""
		pieces = append(pieces, answer{ToolCalls: []toolCall{call}})
		for piece := range slices.Chunk(arguments, 24) {
			more := toolCall{Index: &i}
			more.Function.Arguments = string(piece)
			pieces = append(pieces, answer{ToolCalls: []toolCall{more}})
		}
	}
	return pieces
}

// pause waits for d and reports whether the client is still there.
func pause(gone context.Context, d time.Duration) bool {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-gone.Done():
		}
	}
	return gone.Err() == nil
}
