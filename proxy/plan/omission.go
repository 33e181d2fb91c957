package plan

import (
	"strings"

	"laconic/compact"
)

// omission is a Counter for a chat template that leaves out a part of what it is
// given, so that nobody pays for that.
type omission struct {
	compact.Counter // of everything
	what            string
	tools           bool
	calls           bool // and their results
	instructions    bool
}

// omissions are what the templates of some models leave out: of DeepSeek-V3.1 the
// tools, of Phi-3.5 all that belongs to them, of Hermes 3 the instructions.
var (
	noTools   = omission{what: "without tools", tools: true}
	noCalls   = omission{what: "without tools and calls", tools: true, calls: true}
	omissions = []omission{noTools, noCalls, {what: "without instructions", instructions: true}}
)

// of returns ways of counting without what l leaves out.
func (l omission) of(ways []Way) []Way {
	var left []Way
	for _, w := range ways {
		l.Counter = w.Counter
		left = append(left, Way{Name: l.name(w.Name), Counter: l})
	}
	return left
}

// name returns the name of a way of counting without what l leaves out.
func (l omission) name(way string) string { return strings.TrimSpace(way + " " + l.what) }

func (l omission) leaves(m *compact.Message) bool {
	return l.calls && m.Role.Result() || l.instructions && m.Role.Instruction()
}

// Envelope implements [compact.Counter].
func (l omission) Envelope(m *compact.Message) int {
	if l.leaves(m) {
		return 0
	}
	return l.Counter.Envelope(m)
}

func (l omission) Part(m *compact.Message, p *compact.Part) int {
	if l.leaves(m) {
		return 0
	}
	return l.Counter.Part(m, p)
}

// Message implements [compact.Rememberer].
func (l omission) Message(m *compact.Message) int {
	if l.leaves(m) || l.calls && len(m.Calls) > 0 {
		return compact.CostOfPieces(l, m)
	}
	return compact.Cost(l.Counter, m)
}

func (l omission) Call(c *compact.Call) int {
	if l.calls {
		return 0
	}
	return l.Counter.Call(c)
}

func (l omission) Fixed(b compact.Beside) int {
	if l.tools {
		b.Tools, b.Functions = nil, nil
	}
	return l.Counter.Fixed(b)
}
