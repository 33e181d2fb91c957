package compact

// A Forecast is what is known of the next epoch before it is due. The warm mark
// fixes which messages the slot of that epoch stands for, so a text for the slot
// can be prepared.
type Forecast struct {
	// Mark is the warm mark: the number of messages of the repaired list before
	// it. Sources is the same in messages of the client's list. What Slot
	// returns depends only on the messages before the mark, on the policy and
	// on the budget.
	Mark, Sources int

	in *input
}

// Forecast returns what is known of the next epoch. It returns nil before the
// warm mark, for a policy that does not fold, and for a plan that was not made
// by [Compact].
func (p *Plan) Forecast() *Forecast {
	if p.in == nil || p.in.policy.PerRequest != nil {
		return nil
	}
	f := p.fold
	if f == nil {
		// Costs only grow along the list, so the total decides.
		if p.in.total() <= p.in.warming(0, p.in.budget.Placing) {
			return nil
		}
		f = newFolding(p.in)
		f.visitAll(false)
	}
	if !f.warm {
		return nil
	}
	return &Forecast{Mark: f.markAt, Sources: sources(p.in.msgs[:f.markAt]), in: p.in}
}

// Slot returns the slot that an epoch at the warm mark would make, or nil if it
// would make none. The next epoch has a slot for exactly these messages (From,
// To, Earlier, Spans), or none; only its Size may differ, because more messages
// arrive until then. Slot costs one climb of the ladder at each epoch so far.
func (c *Forecast) Slot() *Slot {
	f := newFolding(c.in.prefix(c.Mark))
	f.visitAll(true)
	if f.d.slot == nil || f.d.slot.end != c.Mark {
		return nil // the climb made none
	}
	return f.d.newSlot(f.msgs)
}
