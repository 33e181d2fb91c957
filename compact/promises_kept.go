package compact

import "slices"

// kept: instructions, pins, the task, the newest user message and the recent
// exchanges are there, with their bytes, in their order. Only the last
// resort cut a recent result, or recent arguments; it removed nothing.
func (k *checker) kept() {
	msgs := k.repaired
	d, recent, newest := k.asOfEpochs()
	run := make([]int, len(msgs)) // start of the run of one role that a message is in
	for i := range msgs {
		if run[i] = i; i > 0 && msgs[i-1].Role == msgs[i].Role {
			run[i] = run[i-1]
		}
	}
	edits := make(map[int][]Edit)
	for _, e := range k.plan.Edits {
		for i := e.At; e.Epoch > 0 && e.Op != OpUnbind && i < max(e.At+1, e.End); i++ {
			edits[i] = append(edits[i], e)
		}
	}
	at := make(map[int]*Message, len(k.out))
	for i := range k.out {
		if k.out[i].Origin != Added {
			at[k.out[i].Origin] = &k.out[i]
		}
	}
	for i := range msgs {
		m := &msgs[i]
		if m.Origin == Added {
			continue
		}
		out := at[m.Origin]
		if out != nil && i == d.task.last {
			out = withoutSlot(out, m)
		}
		if out != nil {
			m = m.asBoundAs(out)
		}
		stays := d.instructs(i) || d.pinned[i] || d.tells(i) || i == d.newestUser
		switch {
		case out != nil && out.Equal(m):
		case out == nil && m.Role.Instruction() && !d.pinned[i] && repeatedLater(msgs, i):
		case stays:
			k.fail("kept", "message %d (%s) is gone or changed", m.Origin, m.Role)
		case out == nil && !slices.ContainsFunc(edits[i], func(e Edit) bool {
			user := newest[e.Epoch]
			return e.Op == OpRemove && (i < recent[e.Epoch] || m.Role == User && i < user && run[i] == run[user])
		}):
			k.fail("kept", "message %d (%s) is gone", m.Origin, m.Role)
		case out != nil && !k.shortened(out, m, edits[i], i, recent):
			k.fail("kept", "message %d (%s) changed", m.Origin, m.Role)
		}
	}
	order := 0
	for i := range msgs {
		if s := k.plan.Slot; order < len(k.out) && s != nil && s.At < 0 && k.out[order].Origin == Added && k.out[order].Role == s.role() {
			order++ // the slot's own message
		}
		if order < len(k.out) && k.out[order].Origin == msgs[i].Origin && k.out[order].Role == msgs[i].Role {
			order++
		}
	}
	if order < len(k.out) {
		k.fail("kept", "message %d does not stand in the client's order", k.out[order].Origin)
	}
}

// withoutSlot returns the last message of the task without the text of the slot that
// follows its own.
func withoutSlot(out, m *Message) *Message {
	if len(out.Parts) <= len(m.Parts) {
		return out
	}
	bare := *out
	bare.Parts = out.Parts[:len(m.Parts)]
	bare.Shape = m.Shape
	return &bare
}

// repeatedLater reports whether a later message repeats the instructions of
// message i word for word.
func repeatedLater(msgs []Message, i int) bool {
	return slices.ContainsFunc(msgs[i+1:], func(m Message) bool {
		return m.Role.Instruction() && slices.EqualFunc(m.Parts, msgs[i].Parts, Part.Equal)
	})
}

// shortened reports whether message i became what it is by edits that each were
// allowed: of a message that was old at the time, or by the last resort.
func (k *checker) shortened(out, m *Message, edits []Edit, i int, recent []int) bool {
	if len(edits) == 0 || m.Role.Instruction() || len(out.Calls) != len(m.Calls) {
		return false
	}
	for _, e := range edits {
		last, piece := e.Last && k.plan.Epochs[e.Epoch-1].Excess > 0, SealText
		if e.Op == OpArguments {
			piece = SealArguments
		}
		if m.Sealed(piece) {
			return false
		}
		switch old := i < recent[e.Epoch]; e.Op {
		case OpMedia:
			if !old {
				return false
			}
		case OpArguments:
			if !old && !last {
				return false
			}
		default:
			if m.Role == User || !old && !(last && m.Role.Result()) {
				return false
			}
		}
	}
	for n := range m.Calls {
		if isObject(m.Calls[n].Arguments.String()) && !isObject(out.Calls[n].Arguments.String()) {
			return false
		}
	}
	return true
}

// asOfEpochs returns a draft of the whole list and, as of each epoch from 1, the
// indices of the first recent message and of the newest user message.
func (k *checker) asOfEpochs() (d *Draft, recent, newest []int) {
	msgs := k.repaired
	costs, c := make([]int, len(msgs)), k.p.Demands.counter(k.c)
	for i := range msgs {
		costs[i] = Cost(c, &msgs[i])
	}
	f := newFolding(newInput(k.in, k.p, c, k.b, msgs, costs))
	recent, newest = []int{0}, []int{-1}
	for at := f.pointAfter(0); ; at = f.pointAfter(at) {
		f.show(at)
		for len(recent) <= len(k.plan.Epochs) && k.plan.Epochs[len(recent)-1].At <= at {
			recent, newest = append(recent, f.d.recent), append(newest, f.d.newestUser)
		}
		if at == len(msgs) {
			return f.d, recent, newest
		}
	}
}
