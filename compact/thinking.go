package compact

import "slices"

// NoThinking is the text of a message that had nothing but bound thinking, once
// that has left.
const NoThinking = "(thinking left out)"

// Unbound returns the message without its bound thinking.
func (m Message) Unbound() Message {
	m.Seal &^= SealBound
	m.Reasoning, m.Edited = Text{}, true
	had := len(m.Parts)
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool { return p.Thought })
	if m.Empty() || had > 0 && len(m.Parts) == 0 {
		m.Parts = nil
		m.append([]Part{{Text: Plain(NoThinking)}})
	}
	return m
}
