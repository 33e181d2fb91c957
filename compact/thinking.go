package compact

import "slices"

// Thinking is bound to what stood before it when it was written: to the bytes
// that the upstream got, which are those of a plan. Between two epochs a plan
// repeats them, so that the thinking behind an epoch is good until the next.
// At an epoch all of it leaves, and stays away at every later request, because
// epochs are repeated: what is left is without a leading run, which is allowed,
// and never without a piece of the middle.

// stageThinking is what took bound thinking out, in edits and reports.
const stageThinking = "thinking"

// unbind takes the bound thinking out of the visible messages that have an
// Origin below below.
func (d *Draft) unbind(below, epoch int, why string) {
	kept := d.bound[:0]
	for _, i := range d.bound {
		m := &d.msgs[i]
		if m.Origin >= below {
			kept = append(kept, i)
			continue
		}
		d.shiftMedia(i)
		*m = m.unbound()
		saved := d.cost[i] - d.whole[i]
		d.cost[i] = d.whole[i]
		if !d.removed(i) {
			d.total -= saved
		}
		d.unbinds.Edits++
		d.unbinds.Saved += saved
		d.journal = append(d.journal, Edit{
			Op: OpUnbind, Stage: stageThinking, Why: why, Origin: m.Origin, At: i, Saved: saved, Epoch: epoch,
		})
	}
	d.bound = kept
}

// shiftMedia counts the parts of message i without its thinking. Media are in the
// order of the list, and each message is asked for once, so that all of it is
// linear.
func (d *Draft) shiftMedia(i int) {
	n, _ := slices.BinarySearchFunc(d.media, i, func(r Ref, i int) int { return r.Message - i })
	at, thoughts := 0, 0
	for ; n < len(d.media) && d.media[n].Message == i; n++ {
		for ; at < d.media[n].Part; at++ {
			if d.msgs[i].Parts[at].Thought {
				thoughts++
			}
		}
		d.media[n].Part -= thoughts
	}
}

// unbinding sets which thinking an earlier request took out. It did so at the
// first request point behind the last of these messages.
func (f *folding) unbinding(below int, msgs []Message) {
	f.unbind = below
	for i := range msgs {
		if msgs[i].Bound && msgs[i].Origin < below {
			f.unbindAt = i + 1
		}
	}
}

// halves are the messages, by Origin, that go on with an answer whose rest
// carries bound thinking: a client may keep an answer as several messages.
func halves(msgs []Message) (found map[int]bool) {
	bound := false
	for i := len(msgs) - 1; i > 0; i-- {
		m := &msgs[i]
		if bound = m.Role == Assistant && (bound || m.Bound); !bound || msgs[i-1].Role != Assistant {
			continue
		}
		if found == nil {
			found = map[int]bool{}
		}
		found[m.Origin] = true
	}
	return found
}

// open reports whether the model goes on within its turn, with thinking that
// the upstream may want back: then an epoch is made only where the request would
// not fit. A policy that does not fold repeats nothing, so it may not wait.
func (f *folding) open() bool {
	d := f.d
	return len(d.bound) > 0 && !f.p.Once && d.msgs[d.end-1].Role.Result()
}

// within is a budget, or what is tried at most if that is less. It says how an
// epoch is made; which epochs Placing places, it leaves alone.
func (f *folding) within(budget int) int {
	if f.b.Hard > 0 {
		return min(budget, f.b.Hard)
	}
	return budget
}

// withoutThinking returns the costs of messages once their bound thinking has
// left: costs itself where none has any.
func withoutThinking(msgs []Message, costs []int, c Counter) []int {
	bare := costs
	for i := range msgs {
		if !msgs[i].Bound {
			continue
		}
		if &bare[0] == &costs[0] {
			bare = append([]int(nil), costs...)
		}
		m := msgs[i].unbound()
		bare[i] = Cost(c, &m)
	}
	return bare
}
