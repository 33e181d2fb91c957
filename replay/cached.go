package replay

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"laconic/compact"
)

// shared compares a request with the previous one. It returns how many messages
// they have in common at the start, and how many tokens a provider's prompt cache
// would serve: the fixed part, the equal messages, and the common start of the
// first message that differs.
func shared(before, now *step) (messages, tokens int) {
	if before.in.Fixed != now.in.Fixed {
		return 0, 0
	}
	tokens = now.in.Fixed
	n := min(len(before.sent), len(now.sent))
	for messages < n && now.sent[messages].Equal(&before.sent[messages]) {
		tokens += now.costs[messages]
		messages++
	}
	if messages < n {
		tokens += alike(&before.sent[messages], &now.sent[messages], now.costs[messages])
	}
	return messages, tokens
}

// alike returns the share of a message's cost that is in the common prefix of its
// two versions.
func alike(before, now *compact.Message, cost int) int {
	if before.Role != now.Role {
		return 0
	}
	a, b := textsOf(before), textsOf(now)
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	said := func(texts string) int { return len(texts) - strings.Count(texts, parted) }
	return cost * said(b[:n]) / max(said(b), 1)
}

// parted stands between two texts of a message.
const parted = "\x00"

// textsOf returns the texts of a message in the order in which a model reads them.
func textsOf(m *compact.Message) string {
	var texts []string
	for _, t := range []compact.Text{m.Reasoning, m.Refusal} {
		if t.Len() > 0 {
			texts = append(texts, t.String())
		}
	}
	for p := range m.Parts {
		texts = append(texts, m.Parts[p].Text.String())
	}
	for c := range m.Calls {
		texts = append(texts, m.Calls[c].Name, m.Calls[c].Arguments.String())
	}
	return strings.Join(texts, parted)
}

// Prices are the prices of a token of a prompt, relative to the list price.
type Prices struct {
	// Cached is the price of a token served from the prompt cache.
	Cached float64 `json:"cached"`
	// Write is the price of any other token: 1.0 if the provider fills its cache
	// for free (DeepSeek, OpenAI before GPT-5.6), 1.25 if not (Anthropic, OpenAI).
	Write float64 `json:"write"`
}

// DefaultPrices are the yardstick's.
var DefaultPrices = Prices{Cached: 0.1, Write: 1.0}

// check returns what is wrong with the prices.
func (p Prices) check() error {
	for _, price := range []float64{p.Cached, p.Write} {
		if !(price >= 0) || math.IsInf(price, 1) {
			return fmt.Errorf("a price is a number from 0 on, not %g", price)
		}
	}
	if p == (Prices{}) {
		return errors.New("both prices are 0: then nothing can be compared by its cost")
	}
	return nil
}

// bill returns the price of tokens of which cached were served from the cache.
func (p Prices) bill(tokens, cached int) float64 {
	return float64(tokens-cached)*p.Write + float64(cached)*p.Cached
}
