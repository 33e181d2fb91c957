package compact

import "slices"

// Thinking is bound to what came before it when it was written: to the bytes
// that the upstream got, which are those of a plan. Between two epochs plans
// repeat them, so the thinking after an epoch is good until the next. At an
// epoch all bound thinking leaves, and stays away in every later request,
// because epochs are repeated. What is left lacks a leading run of thinking,
// which upstreams allow, and never a piece of the middle.

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

// withinTurn reports whether the model is in the middle of a turn with thinking
// that the upstream may want back. Then an epoch is made only if the request
// would not fit. A policy that does not fold repeats nothing, so it may not
// wait.
func (f *folding) withinTurn() bool {
	d, last := f.d, f.d.end-1
	for last > 0 && d.msgs[last].Role.Instruction() && !d.instructs(last) {
		last-- // a note behind the results
	}
	return len(d.bound) > 0 && f.policy.PerRequest == nil && d.msgs[last].Role.Result()
}

// unbind takes the bound thinking out of the visible messages with an Origin
// below origin.
func (d *Draft) unbind(origin, epoch int, why string) {
	d.bound = slices.DeleteFunc(d.bound, func(i int) bool {
		m := &d.msgs[i]
		if m.Origin >= origin {
			return false
		}
		*m = m.Unbound()
		saved := d.cost[i] - d.whole[i]
		d.cost[i] = d.whole[i]
		if !d.removed(i) {
			d.total -= saved
		}
		d.journal = append(d.journal, Edit{
			Op: OpUnbind, Stage: stageThinking, Why: why, Origin: m.Origin, At: i, Saved: saved, Epoch: epoch,
		})
		return true
	})
}

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
