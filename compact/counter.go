package compact

// Counter tells what the pieces of a request cost a model, in tokens. It is
// handed in: compact itself knows no tokenizer. Costs are never negative and
// add up: a message costs its envelope, its parts, its calls and its
// reasoning. Implementations are pure and safe for concurrent use.
type Counter interface {
	// Envelope is the cost of a message without its parts and calls: framing,
	// role, name, id, reasoning, and what it says beside its content.
	Envelope(m *Message) int
	// Part is the cost of one part: a text by its tokens, media by formula.
	Part(p *Part) int
	// Call is the cost of one call: name, arguments and framing.
	Call(c *Call) int
	// Fixed is the cost of what stands beside the messages, from its raw
	// bytes; nil where absent.
	Fixed(tools, functions, format []byte) int
	// Exact tells whether the counts are the model's own. Estimates make the
	// default trigger leave more room.
	Exact() bool
}

// Cost is what one message costs.
func Cost(c Counter, m *Message) int {
	n := c.Envelope(m)
	for i := range m.Parts {
		n += c.Part(&m.Parts[i])
	}
	for i := range m.Calls {
		n += c.Call(&m.Calls[i])
	}
	return n
}

// CostText is what a text costs in a message, without the rest of it.
func CostText(c Counter, text string) int {
	p := Part{Text: Plain(text)}
	return c.Part(&p)
}

// CostAll is what the messages cost together, without the fixed part.
func CostAll(c Counter, msgs []Message) int {
	n := 0
	for i := range msgs {
		n += Cost(c, &msgs[i])
	}
	return n
}
