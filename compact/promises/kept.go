package promises

import (
	"slices"

	"laconic/compact"
)

// kept: instructions, pins, the task, the newest user message and the recent
// exchanges are there, with their bytes, in their order. Only the last
// resort cut a recent result, or recent arguments; it removed nothing.
func (k *checker) kept() {
	msgs := k.repaired
	edits := make(map[int][]compact.Edit)
	for _, e := range k.plan.Edits {
		for i := e.At; e.Epoch > 0 && e.Op != compact.OpUnbind && i < e.At+e.Messages(); i++ {
			edits[i] = append(edits[i], e)
		}
	}
	at := make(map[int]*compact.Message, len(k.out))
	for i := range k.out {
		at[k.out[i].Origin] = &k.out[i]
	}
	for i := range msgs {
		m, out := &msgs[i], at[msgs[i].Origin]
		if m.Origin == compact.Added {
			continue
		}
		if out != nil {
			if s := k.plan.Slot; s != nil && s.Host() == m.Origin {
				out = withoutSlot(out, m)
			}
			m = asBoundAs(m, out)
		}
		switch {
		case out != nil && out.Equal(m):
		case out == nil && m.Role.Instruction() && !slices.Contains(k.p.Pins.Messages, m.Origin) && repeatedLater(msgs, i):
		case k.plan.Protects(i):
			k.fail("kept", "message %d (%s) is gone or changed", m.Origin, m.Role)
		case out == nil && !slices.ContainsFunc(edits[i], func(e compact.Edit) bool {
			return e.Op == compact.OpRemove && (k.old(i, e) || m.Role == compact.User && k.inNewestRun(i, e))
		}):
			k.fail("kept", "message %d (%s) is gone", m.Origin, m.Role)
		case out != nil && !k.shortened(out, m, edits[i], i):
			k.fail("kept", "message %d (%s) changed", m.Origin, m.Role)
		}
	}
	k.ordered()
}

// old reports whether message i was old at the epoch of an edit.
func (k *checker) old(i int, e compact.Edit) bool { return i < k.plan.Epochs[e.Epoch-1].Recent }

// inNewestRun reports whether message i was one of the users' directly before the newest
// one as of the epoch of an edit.
func (k *checker) inNewestRun(i int, e compact.Edit) bool {
	newest := k.plan.Epochs[e.Epoch-1].At - 1
	for newest > i && k.repaired[newest].Role != compact.User {
		newest--
	}
	for n := i; n <= newest; n++ {
		if k.repaired[n].Role != compact.User {
			return false
		}
	}
	return i < newest
}

// ordered: what is left is in the client's order.
func (k *checker) ordered() {
	order := 0
	for i := range k.repaired {
		if s := k.plan.Slot; order < len(k.out) && s != nil && s.At < 0 && k.out[order].Origin == compact.Added && k.out[order].Edited &&
			!k.out[order].Role.Result() && k.repaired[i].Origin != compact.Added {
			order++ // the slot's own message
		}
		if order < len(k.out) && k.out[order].Origin == k.repaired[i].Origin && k.out[order].Role == k.repaired[i].Role {
			order++
		}
	}
	if order < len(k.out) {
		k.fail("kept", "message %d does not stand in the client's order", k.out[order].Origin)
	}
}

// repeatedLater reports whether a later message repeats the instructions of
// message i word for word.
func repeatedLater(msgs []compact.Message, i int) bool {
	return slices.ContainsFunc(msgs[i+1:], func(m compact.Message) bool {
		return m.Role.Instruction() && slices.EqualFunc(m.Parts, msgs[i].Parts, compact.Part.Equal)
	})
}

// shortened reports whether message i became what it is by edits that each were
// allowed: of a message that was old at the time, or by the last resort.
func (k *checker) shortened(out, m *compact.Message, edits []compact.Edit, i int) bool {
	if len(edits) == 0 || m.Role.Instruction() || len(out.Calls) != len(m.Calls) {
		return false
	}
	for _, e := range edits {
		old, last, piece := k.old(i, e), e.Last && k.plan.Epochs[e.Epoch-1].Excess > 0, compact.SealText
		allowed := old && m.Role != compact.User || last && m.Role.Result()
		switch e.Op {
		case compact.OpMedia:
			allowed = old
		case compact.OpArguments:
			allowed, piece = old || last, compact.SealArguments
		}
		if !allowed || m.Sealed(piece) {
			return false
		}
	}
	for n := range m.Calls {
		if compact.IsObject(m.Calls[n].Arguments.String()) && !compact.IsObject(out.Calls[n].Arguments.String()) {
			return false
		}
	}
	return true
}
