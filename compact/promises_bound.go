package compact

import "math"

// bound: bound thinking stands behind the same messages as when it was written.
// So at an epoch, and where an earlier request took it out, all that is older is
// away, none is missing from the middle, and repair makes of what stood before
// the newest of it a beginning of what it makes of the whole. Within a turn of the
// model there is an epoch only where the request did not fit.
func (k *checker) bound() {
	msgs, _ := Repair(k.in.Messages, k.plan.Repair)
	last := 0
	if n := len(k.plan.Epochs); n > 0 {
		last = k.plan.Epochs[n-1].At
	}
	at := make(map[int]int, len(msgs))
	for i := range msgs {
		at[msgs[i].Origin] = i
	}
	first := math.MaxInt // of the messages that have theirs
	for i := range k.out {
		m := &k.out[i]
		switch {
		case m.Origin == Added:
		case m.Bound && at[m.Origin] < last:
			k.fail("stable", "message %d has thinking that is bound to what stood before an epoch", m.Origin)
		case m.Bound && m.Origin < k.in.Unbind:
			k.fail("stable", "message %d has thinking that an earlier request took out", m.Origin)
		case m.Bound:
			first = min(first, i)
		case i > first && msgs[at[m.Origin]].Bound:
			k.fail("stable", "the thinking of message %d is missing from the middle", m.Origin)
		}
	}
	for _, e := range k.plan.Epochs {
		if e.At == 0 || e.At > len(msgs) || !msgs[e.At-1].Role.Result() || k.p.PerRequest != nil || e.At > k.b.Messages || e.Before > e.Budget {
			continue
		}
		for _, u := range k.plan.Edits {
			if u.Op == OpUnbind && u.Epoch > 0 && k.plan.Epochs[u.Epoch-1] == e {
				k.fail("kept", "message %d lost its thinking within a turn, at an epoch of %d tokens of %d", u.Origin, e.Before, e.Budget)
			}
		}
	}
	k.unmoved(msgs)
}

// unmoved: what repair makes of the list before an answer with bound thinking
// begins what it makes of the whole.
func (k *checker) unmoved(msgs []Message) {
	in := k.in.Messages
	for q := len(in) - 1; q > 0; q-- {
		if !in[q].Bound {
			continue
		}
		for q > 0 && in[q-1].Role == Assistant {
			q-- // messages in a row are one answer
		}
		was, _ := Repair(in[:q:q], k.plan.Repair)
		if len(was) == 1 && was[0].Origin == Added {
			return // a quotation, where nothing else was left
		}
		for i := range was {
			if i >= len(msgs) || msgs[i].Origin != was[i].Origin || !msgs[i].Equal(&was[i]) {
				k.fail("stable", "message %d was repaired otherwise before the thinking of message %d", was[i].Origin, in[q].Origin)
				return
			}
		}
		return
	}
}

// asBoundAs is the message with its bound thinking, or without if o has none.
func (m *Message) asBoundAs(o *Message) *Message {
	if !m.Bound || o.Bound {
		return m
	}
	bare := m.unbound()
	return &bare
}
