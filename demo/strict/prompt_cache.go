package strict

import (
	"encoding/binary"
	"hash/maphash"
)

// PromptCache remembers beginnings of earlier prompts, as a provider's prompt cache does.
// A beginning is a hash chained over model, tools and messages. Memory is bounded by two generations.
// It is not safe for use by several goroutines at once.
type PromptCache struct {
	seed       maphash.Seed
	young, old map[uint64]struct{}
}

const generation = 1 << 16 // beginnings per generation

// NewPromptCache makes an empty cache.
func NewPromptCache() *PromptCache {
	return &PromptCache{seed: maphash.MakeSeed(), young: map[uint64]struct{}{}}
}

// OpenAI caches prompts from 1,024 tokens on, in steps of 128 (guide "Prompt caching").
const (
	cacheFrom = 1024
	cacheStep = 128
)

// Serve returns how many tokens of the prompt an earlier request had in common, whole messages counted and
// rounded down as OpenAI does, and remembers this prompt. The costs must be filled in, as Read does.
func (p *PromptCache) Serve(req *Request) (cached int) {
	var h maphash.Hash
	h.SetSeed(p.seed)
	chain := func(previous uint64, fields ...string) uint64 {
		h.Reset()
		number(&h, previous)
		for _, f := range fields {
			number(&h, uint64(len(f)))
			h.WriteString(f)
		}
		return h.Sum64()
	}
	at := chain(0, req.Model, string(req.Tools))
	shared, tokens := true, req.ToolTokens
	for _, m := range req.Messages {
		at = chain(at, m.fields()...)
		if shared = shared && p.has(at); shared {
			tokens += m.Tokens
			cached = tokens
		}
		p.put(at)
	}
	if cached < cacheFrom {
		return 0
	}
	return cached - cached%cacheStep
}

func number(h *maphash.Hash, n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	h.Write(b[:])
}

// fields is what the model reads of a message.
func (m Message) fields() []string {
	f := []string{m.Role, m.Name, m.Text, m.ToolCallID}
	for _, c := range m.Calls {
		f = append(f, c.ID, c.Type, c.Name, c.Arguments)
	}
	if m.Function != nil {
		f = append(f, m.Function.Name, m.Function.Arguments)
	}
	return f
}

func (p *PromptCache) has(h uint64) bool {
	if _, ok := p.young[h]; ok {
		return true
	}
	_, ok := p.old[h]
	return ok
}

func (p *PromptCache) put(h uint64) {
	if len(p.young) >= generation {
		p.old, p.young = p.young, make(map[uint64]struct{}, generation)
	}
	p.young[h] = struct{}{}
}
