package replay

import (
	"slices"

	"laconic/compact"
)

// Recorded is one recorded conversation.
type Recorded struct {
	// ID is its name: as recorded, or its file and line.
	ID string
	// File is the file it was read from, as the caller named it.
	File string
	// Model is the model's name; may be "".
	Model string
	// Messages are all messages, the answers included.
	Messages []compact.Message
	// Tools, Functions and Format are the raw JSON of these fields; nil where
	// absent.
	Tools, Functions, Format []byte
	// Sent are the lengths of requests that were recorded as such, in the order
	// in which they were sent.
	Sent []int
}

// requestPoints are the lengths of all requests of a conversation, ascending:
// the prefixes that end before an assistant message and behind a whole round,
// the requests that were recorded as such, and the whole list where it waits
// for an answer.
func (r *Recorded) requestPoints() []int {
	msgs := r.Messages
	points := slices.Clone(r.Sent)
	for k := 1; k < len(msgs); k++ {
		calling := msgs[k-1].Role == compact.Assistant && len(msgs[k-1].Calls) > 0
		if msgs[k].Role == compact.Assistant && !calling && !msgs[k].Empty() {
			points = append(points, k)
		}
	}
	if n := len(msgs); n > 0 && msgs[n-1].Role != compact.Assistant {
		points = append(points, n)
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// plain decodes all texts once, so that searching and counting never do it
// again.
func plain(msgs []compact.Message) {
	decoded := func(t compact.Text) compact.Text {
		if _, encoded := t.Source(); encoded {
			return compact.Plain(t.String())
		}
		return t
	}
	for i := range msgs {
		m := &msgs[i]
		m.Reasoning = decoded(m.Reasoning)
		for p := range m.Parts {
			m.Parts[p].Text = decoded(m.Parts[p].Text)
		}
		for c := range m.Calls {
			m.Calls[c].Arguments = decoded(m.Calls[c].Arguments)
		}
	}
}
