package strict

import (
	"fmt"
	"hash/maphash"
)

// PromptCache holds the prefixes of earlier prompts, as a provider's prompt cache
// does. A prefix is a hash chained over model, tools and messages. A PromptCache
// is not safe for concurrent use.
type PromptCache struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

// mostPrefixes bounds the memory: above it the cache starts anew.
const mostPrefixes = 1 << 17

// NewPromptCache returns an empty cache.
func NewPromptCache() *PromptCache {
	return &PromptCache{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// OpenAI caches prompts from 1,024 tokens on, in steps of 128 (guide "Prompt
// caching").
const (
	cacheFrom = 1024
	cacheStep = 128
)

// Serve returns how many tokens of the prompt are a prefix of an earlier one, in
// whole messages and rounded down as OpenAI does, and adds the prompt to the
// cache. The costs of req must be set, as by Read.
func (p *PromptCache) Serve(req *Request) (cached int) {
	if len(p.seen) > mostPrefixes {
		clear(p.seen)
	}
	chain := maphash.String(p.seed, fmt.Sprintf("%q %q", req.Model, req.Tools))
	shared, tokens := true, req.ToolTokens
	for _, m := range req.Messages {
		chain = maphash.String(p.seed, fmt.Sprintf("%d %q", chain, m.fields()))
		_, known := p.seen[chain]
		if tokens += m.Tokens; known && shared {
			cached = tokens
		}
		shared = shared && known
		p.seen[chain] = struct{}{}
	}
	if cached < cacheFrom {
		return 0
	}
	return cached - cached%cacheStep
}
