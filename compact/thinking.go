package compact

import "slices"

// Thinking is bound to what came before it when it was written: to the bytes
// that the upstream got, which are those of a plan. Between two epochs plans
// repeat them, so the thinking after an epoch is good until the next. At an
// epoch all bound thinking leaves, and stays away in every later request,
// because epochs are repeated. What is left lacks a leading run of thinking,
// which upstreams allow, and never a piece of the middle.

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
