package strict

import (
	"fmt"
	"hash/maphash"
)

// PromptCache holds the prefixes of earlier prompts, as a provider's prompt cache
// does. A prefix is a hash chained over model, tools and messages. A PromptCache
// is not safe for concurrent use.
type PromptCache map[uint64]bool

var seed = maphash.MakeSeed() // of the hashes

// OpenAI caches prompts from 1,024 tokens on, in steps of 128 (guide "Prompt
// caching").
const (
	cacheFrom = 1024
	cacheStep = 128
)

// Serve returns how many tokens of the prompt are a prefix of an earlier one, in
// whole messages and rounded down as OpenAI does, and adds the prompt to the
// cache. The costs of req must be set, as by Read.
func (p PromptCache) Serve(req *Request) (cached int) {
	chain := maphash.String(seed, fmt.Sprintf("%q %q", req.Model, req.Tools))
	shared, tokens := true, req.ToolTokens
	for _, m := range req.Messages {
		chain = maphash.String(seed, fmt.Sprintf("%d %q", chain, m.fields()))
		shared = shared && p[chain]
		if tokens += m.Tokens; shared {
			cached = tokens
		}
		p[chain] = true
	}
	if cached < cacheFrom {
		return 0
	}
	return cached - cached%cacheStep
}

// Tokens is the default Options.Count: one token for every 3.5 bytes of what the
// model reads, rounded up, 8 for the envelope of the message, and 85 for every
// image, sound or file (the least that an OpenAI image costs). Ids are free.
func Tokens(m Message) int {
	n := len(m.Text) + len(m.Name) + len(m.Thinking)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	if m.Function != nil {
		n += len(m.Function.Name) + len(m.Function.Arguments)
	}
	return (2*n+6)/7 + 8 + 85*m.Media
}

// ToolTokens is the default Options.CountTools: one token for every 3.5 bytes of
// the JSON.
func ToolTokens(tools []byte) int { return (2*len(tools) + 6) / 7 }

// fits reports whether a request is within the limit.
func (u *Upstream) fits(req *Request) bool {
	left := u.o.Limit - req.PromptTokens()
	return u.o.Limit < 0 || req.MaxTokens <= left || u.o.PromptAlone && left >= 0
}

// overflow refuses a request above the limit, in the words of OpenAI for prompts
// alone and for prompts together with the requested output.
func (u *Upstream) overflow(req *Request) *Refusal {
	if u.fits(req) {
		return nil
	}
	prompt, limit := req.PromptTokens(), u.o.Limit
	parts, and, or := fmt.Sprintf("%d in the messages", req.MessageTokens), "", ""
	sentence := fmt.Sprintf("your messages resulted in %d tokens", prompt)
	if req.ToolTokens > 0 {
		parts += fmt.Sprintf(", %d in the functions", req.ToolTokens)
		sentence += " (" + parts + ")"
		and, or = ", functions,", " or functions"
	}
	if prompt <= limit { // only the output is too large
		sentence = fmt.Sprintf("you requested %d tokens (%s, %d in the completion)", uint64(prompt)+uint64(req.MaxTokens), parts, req.MaxTokens)
		or = and + " or completion"
	}
	return refuse(KindOverflow, "messages", "context_length_exceeded",
		"This model's maximum context length is %d tokens. However, %s. Please reduce the length of the messages%s.", limit, sentence, or)
}
