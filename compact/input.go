package compact

import (
	"cmp"
	"math/bits"
)

// input is what one fold works on. It is read only.
type input struct {
	conv    Conversation
	policy  Policy // with its trigger and its records filled in
	counter Counter
	budget  Budget
	msgs    []Message // the repaired list
	costs   []int
	history int // messages that are folded; those after them only follow
	// unbindAt is the request point from which on the thinking before conv.Unbind is
	// away: the first after it, so that earlier epochs stay where they were. It is 0 if
	// no thinking was taken out.
	unbindAt int
	// continues has the messages, by Origin, that continue an answer whose rest
	// carries bound thinking. A client may keep one answer as several messages.
	continues map[int]bool
}

func newInput(conv Conversation, p *Policy, c Counter, b Budget, msgs []Message, costs []int) *input {
	history := len(msgs)
	for conv.History > 0 && history > 0 && msgs[history-1].Origin >= conv.History {
		history--
	}
	in := &input{conv: conv, policy: *p, counter: c, budget: b, msgs: msgs, costs: costs, history: cmp.Or(history, len(msgs))}
	in.readThinking()
	in.policy.Trigger = p.TriggerFor(c)
	if p.Records == nil {
		in.policy.Records = Digester.Record
	}
	if p.Left == nil {
		in.policy.Left = func() bool { return false }
	}
	if p.PerRequest != nil || p.Reject {
		in.budget.Window = 0 // no more than the budget
	}
	return in
}

// total returns the cost of the whole request before any edit.
func (in *input) total() int {
	n := in.fixed()
	for _, cost := range in.costs {
		n += cost
	}
	return n
}

// least returns the smallest budget of any request point, in tokens.
func (in *input) least() int {
	n := in.budget.Placing
	for _, r := range in.conv.Rates {
		n = min(n, in.budget.at(r).Placing)
	}
	return n
}

// fixed returns the fixed cost, rounded up by at most an eighth, and by less than Step,
// so that a tool that is loaded late moves no earlier epoch. What a last resort cuts is
// measured without that.
func (in *input) fixed() int {
	n := max(0, in.conv.Fixed)
	step := min(in.budget.Step, 1<<max(0, bits.Len(uint(n))-4))
	return (n + step - 1) / step * step
}

// readThinking finds what a fold must know of bound thinking.
func (in *input) readThinking() {
	for i := range in.msgs {
		if in.msgs[i].Bound() && in.msgs[i].Origin < in.conv.Unbind {
			in.unbindAt = i + 1
		}
	}
	in.continues = map[int]bool{}
	msgs := in.conv.Messages
	bound := boundAnswers(msgs)
	for i := 1; i < len(msgs); i++ {
		if bound[i] && msgs[i-1].Role == Assistant {
			in.continues[msgs[i].Origin] = true
		}
	}
}
