package demo

import "laconic/demo/strict"

// bill adds up what prompts cost.
type bill struct {
	requests, largest int
	prompt, cached    int // tokens
}

func (b *bill) add(prompt, cached int) {
	b.requests++
	b.largest = max(b.largest, prompt)
	b.prompt += prompt
	b.cached += cached
}

// charged is the bill in tokens at full price, when a cached token costs a tenth.
func (b *bill) charged() int { return b.prompt - b.cached + b.cached/10 }

// shadow keeps the books of a client that does without the proxy, in one of two ways: it sends everything
// (and an upstream without limit takes it), or it drops its oldest messages every turn until the rest fits.
type shadow struct {
	bill
	cache  *strict.PromptCache
	budget int // 0: send everything
}

func newShadow(budget int) *shadow { return &shadow{cache: strict.NewPromptCache(), budget: budget} }

func (s *shadow) add(req strict.Request) {
	if s.budget > 0 {
		req = dropOldest(req, s.budget)
	}
	s.bill.add(req.PromptTokens(), s.cache.Serve(&req))
}

// dropOldest is what most clients do by hand: the system message stays, the oldest of the others go until the
// rest fits, and a result whose call is gone goes with it.
func dropOldest(req strict.Request, budget int) strict.Request {
	head := 0
	for head < len(req.Messages) && req.Messages[head].Role == "system" {
		head++
	}
	kept, from := req.PromptTokens(), head
	for from < len(req.Messages)-1 && (kept > budget || req.Messages[from].Role == "tool") {
		kept -= req.Messages[from].Tokens
		from++
	}
	req.Messages = append(req.Messages[:head:head], req.Messages[from:]...)
	req.MessageTokens = kept - req.ToolTokens
	return req
}
