package compact

// Coming is what is known of the next epoch before it is due: past the warm
// mark its gap is fixed, so that a text for its slot can be prepared.
type Coming struct {
	// Mark is the warm mark: the number of messages of the repaired list that
	// stood before it. Sources is the same in messages of the client's list.
	// What Slot gives depends on the messages before it, on the policy and on
	// the budget, on nothing else.
	Mark, Sources int

	slot func() *Slot
}

// Coming tells what is known of the next epoch; nil before the warm mark, where
// the policy does not fold, and for a plan that was not made by Compact. It
// must be asked before the conversation's texts are let go of.
func (p *Plan) Coming() *Coming {
	if p.coming == nil {
		return nil
	}
	return p.coming()
}

// Slot is the slot that an epoch at the warm mark would make; nil where it
// would need none. The next epoch uses exactly its run of messages (From, To,
// Earlier, Spans), or none: only its Size may come out differently, because
// more arrived until then. It costs one climb of the ladder.
func (c *Coming) Slot() *Slot { return c.slot() }

// comingOf finds the warm mark behind the last epoch. f is the fold of the
// conversation; nil where no epoch was due.
func comingOf(p *Policy, f *folding, msgs []Message, costs []int, in Conversation, c Counter, b Budget) *Coming {
	fixed := in.Fixed
	if p.Once {
		return nil
	}
	if f == nil {
		if f = (&folding{p: p, b: b, halves: halves(in.Messages)}); total(fixed, b.Step, costs) <= f.warming(0, b.Placing) {
			return nil // known without looking at single request points
		}
		f.unbinding(in.Unbind, msgs)
		f.d = newDraft(p, msgs, costs, coarse(fixed, b.Step), c)
		f.walk(false)
	}
	if !f.warm {
		return nil
	}
	mark := f.markAt
	coming := &Coming{Mark: mark, Sources: sources(msgs[:mark])}
	coming.slot = func() *Slot {
		before := &folding{p: p, b: b, unbind: f.unbind, unbindAt: f.unbindAt, halves: f.halves}
		before.d = newDraft(p, msgs[:mark], costs[:mark], coarse(fixed, b.Step), c)
		before.walk(true)
		if d := before.d; d.slot == nil || d.slot.end != mark {
			return nil // the climb went without one
		}
		var plan Plan
		before.d.fill(&plan, msgs[:mark])
		return plan.Slot
	}
	return coming
}

// Spans are the messages that the slot stands for, as they came: one run for
// each epoch, oldest first, so that all but the last are what the slot before
// this one stood for. Instructions and pins inside are not among them: they
// stay. nil for a slot that was not made by Compact.
func (s *Slot) Spans() [][]Message {
	if s.spans == nil {
		return nil
	}
	return s.spans()
}

// spans gives the runs of a slot. Of a policy that lets leave what it will, by
// Leave and Fill, it is whatever left.
func (d *Draft) spans(s *Slot, originals []Message) func() [][]Message {
	filled, ends := d.slot.filled, append(s.Earlier[:len(s.Earlier):len(s.Earlier)], s.To)
	return func() (runs [][]Message) {
		from := s.From
		for _, to := range ends {
			var run []Message
			for i := from; i < to && i < len(originals); i++ {
				if filled && !d.removed(i) || d.msgs[i].Role.Head() || d.pinned[i] {
					continue
				}
				run = append(run, originals[i])
			}
			runs, from = append(runs, run), max(from, to)
		}
		return runs
	}
}
