package replay

import "laconic/compact"

// counting counts a conversation's own pieces once, however often they are
// asked for: the same history is compacted at every request point, for every
// policy and every budget. Pieces that a policy made are counted each time.
//
// Pieces are told apart by their place in memory, which is safe because the
// conversation outlives its counter and nothing is added to the table later.
type counting struct {
	compact.Counter
	parts    map[*compact.Part]int
	calls    map[*compact.Call]int
	messages []compact.Message
	thoughts []int // the envelope of each message that carries reasoning
}

func countOnce(c compact.Counter, msgs []compact.Message) *counting {
	k := &counting{
		Counter: c, parts: map[*compact.Part]int{}, calls: map[*compact.Call]int{},
		messages: msgs, thoughts: make([]int, len(msgs)),
	}
	for i := range msgs {
		m := &msgs[i]
		for p := range m.Parts {
			k.parts[&m.Parts[p]] = c.Part(&m.Parts[p])
		}
		for n := range m.Calls {
			k.calls[&m.Calls[n]] = c.Call(&m.Calls[n])
		}
		if m.Reasoning.Len() > 0 {
			k.thoughts[i] = c.Envelope(m)
		}
	}
	return k
}

func (k *counting) Part(p *compact.Part) int {
	if n, ok := k.parts[p]; ok {
		return n
	}
	return k.Counter.Part(p)
}

func (k *counting) Call(c *compact.Call) int {
	if n, ok := k.calls[c]; ok {
		return n
	}
	return k.Counter.Call(c)
}

// Envelope is cheap but for reasoning, whose text is counted once.
func (k *counting) Envelope(m *compact.Message) int {
	if m.Reasoning.Len() > 0 && m.Origin >= 0 && m.Origin < len(k.messages) {
		o := &k.messages[m.Origin]
		if m.Role == o.Role && m.Answers == o.Answers && m.Name == o.Name && m.Reasoning.Equal(o.Reasoning) {
			return k.thoughts[m.Origin]
		}
	}
	return k.Counter.Envelope(m)
}
