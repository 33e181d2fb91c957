package strict

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Reply is what the upstream says to one request.
type Reply struct {
	Text  string
	Calls []Call // an empty ID gets one
	// Finish is the finish_reason. "" means "tool_calls" when there are calls, else "stop".
	Finish string
	// Refuse answers with this error instead; nil means an answer.
	Refuse   *Refusal
	thinking []thinkingBlock
	// Break cuts the connection of a stream after that many chunks, as a dying server does; 0 means never.
	Break int
}

// Usage is OpenAI's usage object.
type Usage struct {
	PromptTokens            int               `json:"prompt_tokens"`
	CompletionTokens        int               `json:"completion_tokens"`
	TotalTokens             int               `json:"total_tokens"`
	PromptTokensDetails     PromptDetails     `json:"prompt_tokens_details"`
	CompletionTokensDetails CompletionDetails `json:"completion_tokens_details"`
}

// PromptDetails says how much of a prompt came from the cache.
type PromptDetails struct {
	CachedTokens int `json:"cached_tokens"`
	AudioTokens  int `json:"audio_tokens"`
}

// CompletionDetails is always zero here; clients expect the fields.
type CompletionDetails struct {
	ReasoningTokens          int `json:"reasoning_tokens"`
	AudioTokens              int `json:"audio_tokens"`
	AcceptedPredictionTokens int `json:"accepted_prediction_tokens"`
	RejectedPredictionTokens int `json:"rejected_prediction_tokens"`
}

const fingerprint = "fp_57ec81f4b0"

// answer makes the reply and sends it. It returns false when the client left before the end.
func (u *Upstream) answer(w http.ResponseWriter, r *http.Request, req *Request, seen *Seen) bool {
	u.mu.Lock()
	script := u.reply
	u.mu.Unlock()
	reply := script(req)
	if reply.Refuse != nil {
		u.update(func() { seen.Refusal, seen.Status = reply.Refuse, reply.Refuse.Status })
		reply.Refuse.write(w)
		return true
	}

	if u.o.Thinks != nil {
		if thought := u.o.Thinks(req); thought != "" {
			b, _ := bind(req.Body, thought)
			reply.thinking = []thinkingBlock{b}
		}
	}
	reply.Calls = slices.Clone(reply.Calls) // the script may hand the same slice out again
	usage := u.usage(req, reply)
	u.mu.Lock()
	u.count++
	number := u.count
	usage.PromptTokensDetails.CachedTokens = u.cached.Serve(req)
	seen.Usage = &usage
	u.mu.Unlock()
	for i := range reply.Calls {
		complete(&reply.Calls[i], number, i)
	}
	id := fmt.Sprintf("chatcmpl-strict%015d", number)
	if reply.Finish == "" {
		reply.Finish = "stop"
		if reply.Calls != nil {
			reply.Finish = "tool_calls"
		}
	}
	h := w.Header()
	h.Set("Openai-Version", "2020-10-01")
	h.Set("X-Request-Id", "req_"+id[len("chatcmpl-"):])
	started := head{ID: id, Created: time.Now().Unix(), Model: req.Model, ServiceTier: "default", SystemFingerprint: fingerprint}
	if req.Stream {
		return u.stream(w, r, started, reply, req.IncludeUsage, usage)
	}
	return u.whole(w, r, started, reply, usage)
}

// complete gives a scripted call what the script left out.
func complete(c *Call, answer, n int) {
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_strict%07d%03d", answer, n)
	}
	if c.Type == "" {
		c.Type = "function"
	}
}

// usage is all but the cached tokens.
func (u *Upstream) usage(req *Request, reply Reply) Usage {
	out := u.o.Count(Message{Role: "assistant", Text: reply.Text, Calls: reply.Calls})
	return Usage{PromptTokens: req.PromptTokens(), CompletionTokens: out, TotalTokens: req.PromptTokens() + out}
}

// head is what an answer and every chunk of a stream begin with.
type head struct {
	ID                string `json:"id"`
	Object            string `json:"object"`
	Created           int64  `json:"created"`
	Model             string `json:"model"`
	ServiceTier       string `json:"service_tier"`
	SystemFingerprint string `json:"system_fingerprint"`
}

type sentCall struct {
	Index    *int      `json:"index,omitempty"` // in streams only
	ID       string    `json:"id,omitempty"`
	Type     string    `json:"type,omitempty"`
	Function *function `json:"function,omitempty"`
	Custom   *custom   `json:"custom,omitempty"`
}

type function struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type custom struct {
	Name  string `json:"name,omitempty"`
	Input string `json:"input"`
}

// sent is a call in OpenAI's shape, with as much of its arguments as text says.
func (c Call) sent(text string) sentCall {
	s := sentCall{ID: c.ID, Type: c.Type}
	if c.Type == "custom" {
		s.Custom = &custom{c.Name, text}
	} else {
		s.Function = &function{c.Name, text}
	}
	return s
}

// whole sends an answer that is not streamed.
func (u *Upstream) whole(w http.ResponseWriter, r *http.Request, h head, reply Reply, usage Usage) bool {
	if !pause(r.Context(), u.o.Latency) {
		return false
	}
	type message struct {
		Role        string          `json:"role"`
		Content     *string         `json:"content"`
		Refusal     *string         `json:"refusal"`
		ToolCalls   []sentCall      `json:"tool_calls,omitempty"`
		Annotations []struct{}      `json:"annotations"`
		Thinking    []thinkingBlock `json:"thinking_blocks,omitempty"`
	}
	type choice struct {
		Index        int       `json:"index"`
		Message      message   `json:"message"`
		Logprobs     *struct{} `json:"logprobs"`
		FinishReason string    `json:"finish_reason"`
	}
	h.Object = "chat.completion"
	m := message{Role: "assistant", Annotations: []struct{}{}, Thinking: reply.thinking}
	if reply.Text != "" || reply.Calls == nil {
		m.Content = &reply.Text
	}
	for _, c := range reply.Calls {
		m.ToolCalls = append(m.ToolCalls, c.sent(c.Arguments))
	}
	return sendJSON(w, struct {
		head
		Choices []choice `json:"choices"`
		Usage   Usage    `json:"usage"`
	}{h, []choice{{Message: m, FinishReason: reply.Finish}}, usage})
}

// sendJSON returns false when the client is gone.
func sendJSON(w http.ResponseWriter, v any) bool {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("BUG: an answer is always JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(append(body, '\n'))
	return err == nil
}
