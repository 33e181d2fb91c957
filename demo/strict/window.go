package strict

import "fmt"

// Tokens is the default Options.Count: one token for every 3.5 bytes of what the model reads, rounded up,
// 8 for the envelope of the message, and 85 for every image, sound or file (the least an OpenAI image costs).
// Ids are not counted.
func Tokens(m Message) int {
	n := len(m.Text) + len(m.Name) + len(m.Thinking)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	if m.Function != nil {
		n += len(m.Function.Name) + len(m.Function.Arguments)
	}
	return perBytes(n) + 8 + 85*m.Media
}

// ToolTokens is the default Options.CountTools: one token for every 3.5 bytes of the JSON.
func ToolTokens(tools []byte) int { return perBytes(len(tools)) }

// perBytes is n / 3.5, rounded up.
func perBytes(n int) int { return (2*n + 6) / 7 }

// measure fills in the costs.
func (o Options) measure(req *Request) {
	for i := range req.Messages {
		m := &req.Messages[i]
		m.Tokens = o.Count(*m)
		req.MessageTokens += m.Tokens
	}
	if req.Tools != nil {
		req.ToolTokens = o.CountTools(req.Tools)
	}
}

// window refuses what is longer than the limit, in the words OpenAI uses for prompts alone and for prompts
// together with the output asked for.
func (o Options) window(req *Request) *Refusal {
	prompt := req.PromptTokens()
	if o.Limit < 0 || req.MaxTokens <= o.Limit-prompt {
		return nil
	}
	parts := fmt.Sprintf("%d in the messages", req.MessageTokens)
	reduce := "messages"
	if req.ToolTokens > 0 {
		parts += fmt.Sprintf(", %d in the functions", req.ToolTokens)
		reduce = "messages or functions"
	}
	var sentence string
	switch {
	case prompt <= o.Limit: // the output cap is at fault
		if req.ToolTokens > 0 {
			reduce = "messages, functions, or completion"
		} else {
			reduce = "messages or completion"
		}
		sentence = fmt.Sprintf("you requested %d tokens (%s, %d in the completion)", uint64(prompt)+uint64(req.MaxTokens), parts, req.MaxTokens)
	case req.ToolTokens > 0:
		sentence = fmt.Sprintf("your messages resulted in %d tokens (%s)", prompt, parts)
	default:
		sentence = fmt.Sprintf("your messages resulted in %d tokens", prompt)
	}
	return refuse(KindOverflow, "messages", "context_length_exceeded",
		"This model's maximum context length is %d tokens. However, %s. Please reduce the length of the %s.", o.Limit, sentence, reduce)
}
