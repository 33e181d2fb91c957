package demo

import (
	"net/http"
	"slices"
	"strconv"

	"laconic/demo/strict"
)

// turn is one request of the client, measured.
type turn struct {
	number  int
	what    string          // what the agent did with the answer
	own     *strict.Request // as the client sent it, read by the upstream; nil if unreadable
	arrived *strict.Request // as the upstream accepted it; nil if it accepted nothing
	client  int             // tokens as the client sent it
	sent    int             // tokens as it was sent to the upstream
	cached  int             // of these, served from the prompt cache
	budget  int
	outcome string // from the proxy's header, or ""
	epoch   bool   // the previous request is not a prefix of this one
	aside   bool

	// The upstream's verdict on the client's own bytes.
	bare           *strict.Refusal // nil: the upstream would answer
	tooLong, pairs bool

	refused error // what the client got instead of an answer
}

// repaired reports whether the proxy repaired the pairs of the client.
func (t *turn) repaired() bool { return t.pairs && t.refused == nil }

// measure combines the client's bytes, the proxy's headers, and what the upstream
// accepted. The proxy's numbers are preferred: like the budget, they are in its
// own count of tokens.
func (s *show) measure(x exchange) turn {
	t := turn{
		budget: s.o.Budget, refused: x.refused, cached: x.cached, arrived: s.arrived.Load(),
		outcome: x.header.Get("x-laconic-outcome"),
	}
	t.own, t.bare = s.o.Upstream.Read(x.body)
	if t.own != nil {
		t.client = t.own.PromptTokens()
		t.tooLong = s.o.Upstream.Limit() >= 0 && t.client > s.o.Upstream.Limit()
	}
	t.pairs = t.bare != nil && t.bare.Kind == strict.KindPairs
	t.sent = t.client
	if t.arrived != nil {
		t.sent = t.arrived.PromptTokens()
	}
	headerNumber(x.header, "x-laconic-tokens-before", &t.client)
	headerNumber(x.header, "x-laconic-tokens-after", &t.sent)
	headerNumber(x.header, "x-laconic-budget", &t.budget)
	return t
}

// headerNumber sets *to to the number in a header, if the header holds one.
func headerNumber(h http.Header, name string, to *int) {
	if n, err := strconv.Atoi(h.Get(name)); err == nil && n >= 0 {
		*to = n
	}
}

// extends reports whether before is a prefix of now.
func extends(before, now []strict.Message) bool {
	return len(now) >= len(before) && slices.EqualFunc(before, now[:len(before)], strict.Message.Same)
}

// bill is the cost of prompts.
type bill struct {
	largest        int
	prompt, cached int // tokens
}

func (b *bill) add(prompt, cached int) {
	b.largest = max(b.largest, prompt)
	b.prompt += prompt
	b.cached += cached
}

// charged returns the bill in tokens at full price; a cached token costs a tenth.
func (b *bill) charged() int { return b.prompt - b.cached + b.cached/10 }

// shadow is the bill of a client without the proxy.
type shadow struct {
	bill
	cache  *strict.PromptCache
	budget int // to which the oldest messages are dropped every turn; 0: none are
}

func (s *shadow) add(req strict.Request) {
	if s.budget > 0 {
		req = dropOldest(req, s.budget)
	}
	s.bill.add(req.PromptTokens(), s.cache.Serve(&req))
}

// dropOldest does what most clients do by hand: it keeps the system message, and
// drops the oldest others until the rest fits and starts with no tool result.
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
