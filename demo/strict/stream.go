package strict

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

type delta struct {
	Role      string          `json:"role,omitempty"`
	Content   *string         `json:"content,omitempty"`
	ToolCalls []sentCall      `json:"tool_calls,omitempty"`
	Thinking  []thinkingBlock `json:"thinking_blocks,omitempty"`
}

type chunkChoice struct {
	Index        int       `json:"index"`
	Delta        delta     `json:"delta"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

// stream sends an answer as server-sent events, a word at a time, every event at once. It returns false when
// the client left before the end.
//
// Usage follows OpenAI: only when it was asked for, in one last chunk without choices; every other chunk then
// says "usage": null.
func (u *Upstream) stream(w http.ResponseWriter, r *http.Request, h head, reply Reply, includeUsage bool, usage Usage) bool {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	s := &sender{w: w, rc: http.NewResponseController(w), gone: r.Context(), latency: u.o.Latency, cutAfter: reply.Break, head: h}
	s.head.Object = "chat.completion.chunk"
	if includeUsage {
		s.usage = json.RawMessage("null")
	}
	for _, d := range deltas(reply) {
		s.chunk([]chunkChoice{{Delta: d}})
	}
	s.chunk([]chunkChoice{{FinishReason: &reply.Finish}})
	if includeUsage {
		s.usage = marshal(usage)
		s.chunk([]chunkChoice{})
	}
	s.event([]byte("[DONE]"))
	return s.ok()
}

// deltas cuts a reply into the pieces a model would send.
func deltas(reply Reply) []delta {
	empty := ""
	first := delta{Role: "assistant"}
	if reply.Text != "" || reply.Calls == nil {
		first.Content = &empty
	}
	out := []delta{first}
	if reply.thinking != nil {
		out = append(out, delta{Thinking: reply.thinking})
	}
	for _, word := range strings.SplitAfter(reply.Text, " ") {
		if word != "" {
			out = append(out, delta{Content: &word})
		}
	}
	for i, c := range reply.Calls {
		start := c.sent("")
		start.Index = &i
		out = append(out, delta{ToolCalls: []sentCall{start}})
		for _, piece := range pieces(c.Arguments, 24) {
			more := Call{Type: c.Type}.sent(piece)
			more.Index, more.Type = &i, ""
			out = append(out, delta{ToolCalls: []sentCall{more}})
		}
	}
	return out
}

// pieces cuts s into runs of at most n runes.
func pieces(s string, n int) []string {
	var out []string
	start, runes := 0, 0
	for i := range s {
		if runes == n {
			out = append(out, s[start:i])
			start, runes = i, 0
		}
		runes++
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// sender writes events until the client leaves.
type sender struct {
	w        http.ResponseWriter
	rc       *http.ResponseController
	gone     context.Context
	latency  time.Duration
	cutAfter int
	sent     int
	head     head
	usage    json.RawMessage
	err      error
}

func (s *sender) ok() bool { return s.err == nil }

func (s *sender) chunk(choices []chunkChoice) {
	s.event(marshal(struct {
		head
		Choices []chunkChoice   `json:"choices"`
		Usage   json.RawMessage `json:"usage,omitempty"`
	}{s.head, choices, s.usage}))
}

func (s *sender) event(data []byte) {
	if s.err != nil {
		return
	}
	if s.cutAfter > 0 && s.sent == s.cutAfter {
		panic(http.ErrAbortHandler) // net/http cuts the connection: the client sees a broken answer
	}
	if s.sent > 0 && !pause(s.gone, s.latency) {
		s.err = s.gone.Err()
		return
	}
	if _, s.err = s.w.Write([]byte("data: " + string(data) + "\n\n")); s.err == nil {
		s.err = s.rc.Flush()
	}
	s.sent++
}

// pause waits; false means that the client left.
func pause(gone context.Context, d time.Duration) bool {
	if d <= 0 {
		return gone.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-gone.Done():
		return false
	}
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: a chunk is always JSON: " + err.Error())
	}
	return b
}
