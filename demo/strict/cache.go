package strict

import "hash/maphash"

// PromptCache remembers beginnings of earlier prompts, as a provider's prompt
// cache does. A beginning is a hash chained over model, tools and messages.
// It must not be used by several goroutines at once.
type PromptCache struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

// mostBeginnings bounds the memory: beyond it the cache starts anew.
const mostBeginnings = 1 << 17

// NewPromptCache makes an empty cache.
func NewPromptCache() *PromptCache {
	return &PromptCache{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// OpenAI caches prompts from 1,024 tokens on, in steps of 128 (guide "Prompt
// caching").
const (
	cacheFrom = 1024
	cacheStep = 128
)

// Serve returns how many tokens of the prompt an earlier request had in common,
// in whole messages and rounded down as OpenAI does, and remembers this prompt.
// The costs must be filled in, as Read does.
func (p *PromptCache) Serve(req *Request) (cached int) {
	if len(p.seen) > mostBeginnings {
		clear(p.seen)
	}
	type link struct {
		before uint64
		field  string
	}
	at := uint64(0)
	chain := func(fields ...string) {
		for _, f := range fields {
			at = maphash.Comparable(p.seed, link{at, f})
		}
		at++ // the next field is not one of these
	}
	chain(req.Model, string(req.Tools))
	shared, tokens := true, req.ToolTokens
	for _, m := range req.Messages {
		chain(m.fields()...)
		if _, known := p.seen[at]; known && shared {
			tokens += m.Tokens
			cached = tokens
		} else {
			shared = false
		}
		p.seen[at] = struct{}{}
	}
	if cached < cacheFrom {
		return 0
	}
	return cached - cached%cacheStep
}
