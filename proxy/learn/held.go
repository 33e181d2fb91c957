package learn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"laconic/compact"
)

// Held is the count that a conversation was folded with, and how the upstream was
// found to count since. Without it the conversation is folded anew by the count
// that is believed now, which costs the prompt cache once.
type Held struct {
	Count Count `json:"count,omitzero"`
	// Confirmed: answers had confirmed the count.
	Confirmed bool `json:"confirmed,omitempty"`
	// From is the length of the shortest list that was folded.
	From int `json:"from,omitempty"`
	// Rates are those of [compact.Conversation], as a text, so that facts can be
	// compared and copied.
	Rates string `json:"rates,omitempty"`
}

// mostRates bounds the rates of a conversation.
const mostRates = 32

// heldLife is how long a conversation that makes no requests is remembered.
const heldLife = 24 * time.Hour

// ReadRates returns the rates that hold for lists of up to n messages. What nobody
// could have written is left out.
func (h *Held) ReadRates(n int) (all []compact.Rate) {
	for _, word := range strings.Fields(h.Rates[:min(len(h.Rates), 64*mostRates)]) {
		var r compact.Rate
		_, err := fmt.Sscanf(word, "%d:%d:%d", &r.From, &r.Percent, &r.Extra)
		if err == nil && r.From <= n && r.Percent > 0 && r.Percent <= mostPercent*mostPercent && max(r.Extra, -r.Extra) <= mostBelieved {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b compact.Rate) int { return a.From - b.From })
	return all[:min(len(all), mostRates)]
}

// WithRate returns h and its rates with one more, which takes the place of those
// that begin no earlier. Where there are too many, h keeps its own.
func (h Held) WithRate(r compact.Rate) (Held, []compact.Rate) {
	all := h.ReadRates(r.From - 1)
	if len(all) >= mostRates {
		return h, all
	}
	var text strings.Builder
	all = append(all, r)
	for _, r := range all {
		fmt.Fprintf(&text, "%d:%d:%d ", r.From, r.Percent, r.Extra)
	}
	h.Rates = text.String()
	return h, all
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
	e, ok := m.conversations.GetIfPresent(key)
	if !ok && make {
		e, _ = m.conversations.SetIfAbsent(key, &Model{memory: m, key: key, upstream: of.upstream, name: of.name})
	}
	return e
}

// Held returns the count that the conversation was folded with, and reports whether
// it is known.
func (m *Model) Held() (h Held, ok bool) {
	f := m.Facts().Held
	return f.Value, !f.Until.IsZero()
}

// SetHeld notes the count that the conversation is folded with.
func (m *Model) SetHeld(h Held) {
	m.change(func(now time.Time, f *Facts) {
		if f.Held.Value != h || f.Held.Until.Before(now.Add(heldLife-time.Hour)) { // not at every request: it is stored
			f.Held = believe(h, now, heldLife)
		}
	})
}
