package learn

import (
	"reflect"
	"slices"
	"time"

	"laconic/compact"
)

// Held is the count that a conversation was folded with, and how the upstream was
// found to count since. Without it the conversation is folded anew by the count
// that is believed now: that costs the prompt cache, once in one process, and each time
// that it goes to another which counts otherwise.
type Held struct {
	Count Count `json:"count,omitzero"`
	// Confirmed: answers had confirmed the count.
	Confirmed bool `json:"confirmed,omitempty"`
	// From is the length of the shortest list that was folded.
	From int `json:"from,omitempty"`
	// Rates are those of [compact.Conversation], sorted by From.
	Rates []compact.Rate `json:"rates,omitempty"`
}

// mostRates bounds the rates of a conversation.
const mostRates = 32

// RatesFor returns the rates that hold for lists of up to n messages.
func (h *Held) RatesFor(n int) []compact.Rate {
	i, _ := slices.BinarySearchFunc(h.Rates, n, func(r compact.Rate, n int) int { return r.From - n - 1 })
	return h.Rates[:i:i]
}

// WithRate returns h with one more rate, which takes the place of those that begin no
// earlier. Where there are too many, h keeps its own.
func (h Held) WithRate(r compact.Rate) Held {
	if all := h.RatesFor(r.From - 1); len(all) < mostRates {
		h.Rates = append(all, r)
	}
	return h
}

// Facts returns the facts of a plan that is made by h.
func (h *Held) Facts(f Facts) Facts {
	f.Count = Fact[Count]{Value: h.Count}
	if h.Confirmed {
		f.Count.Until = time.Unix(1, 0)
	}
	return f
}

// Conversation returns what is known of one conversation with a model, by what tells
// it from others; nil if nothing is and make is not set.
func (m *Memory) Conversation(of *Model, make bool, name ...string) *Model {
	key := m.Key(append([]string{"conversation", string(of.key[:])}, name...)...)
	e, _ := m.conversations.ComputeIfAbsent(key, func() (*Model, bool) {
		return &Model{memory: m, key: key, upstream: of.upstream, name: of.name}, !make
	})
	return e
}

// SetHeld notes the count that the conversation is folded with.
func (m *Model) SetHeld(h Held) {
	m.change(func(now time.Time, f *Facts) {
		if !reflect.DeepEqual(f.Held.Value, h) || f.Held.aged(now) {
			f.Held = believe(h, now, factLife)
		}
	})
}
