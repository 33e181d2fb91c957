package compact

import "slices"

// Compact repairs a conversation and folds it under its budget. It is a pure
// function of its arguments and total: whatever the conversation, the plan is
// legal, and the report says what remains over the budget.
func Compact(in Conversation, p *Policy, c Counter, b Budget) (Plan, Report) {
	b = b.whole()
	mode := p.Repair
	if mode == "" {
		mode = RepairAnswer
	}
	model := c
	if p.Counter != nil {
		c = p.Counter
	}
	msgs, edits := Repair(in.Messages, mode)
	costs := make([]int, len(msgs))
	total := in.Fixed
	for i := range msgs {
		costs[i] = Cost(c, &msgs[i])
		total += costs[i]
	}
	plan := Plan{Repair: mode, Edits: edits, result: msgs}
	r := Report{
		Outcome: Untouched, Strategy: NoStrategy, Before: total, After: total, Budget: b.most(), Fixed: in.Fixed,
		MessagesBefore: len(in.Messages), MessagesAfter: len(msgs), Repairs: len(edits),
	}
	for i := range edits {
		if edits[i].Op == OpDropResult {
			r.ResultsDropped++
		}
	}
	if len(edits) > 0 {
		r.Outcome = Repaired
		r.Before = in.Fixed + CostAll(c, in.Messages)
	}
	policy := *p
	policy.Trigger = p.TriggerFor(c)
	f := fold(&policy, msgs, costs, in, c, b)
	if f != nil && (len(f.epochs) > 0 || f.d.unbinds.Edits > 0) {
		r.Outcome = Compacted
		f.finish(&plan, &r, msgs)
	}
	plan.coming = func() *Coming { return comingOf(&policy, f, msgs, costs, in, c, b) }
	r.Sent(r.After, b)
	r.NotEnough = r.Outcome == Over && r.Epochs == 0
	if p.Counter != nil {
		r.Before = in.Fixed + CostAll(model, in.Messages)
		r.Sent(in.Fixed+CostAll(model, plan.result)+plan.Slot.charge(model), b)
	}
	return plan, r
}

// charge is what a slot adds to a request, in tokens of c beside its Size; 0 for
// none.
func (s *Slot) charge(c Counter) int {
	if s == nil {
		return 0
	}
	if s.At >= 0 {
		return s.Size
	}
	own := Message{Role: s.role(), Shape: String, Origin: Added}
	return s.Size + c.Envelope(&own)
}

// finish writes what the fold did into the plan and the report.
func (f *folding) finish(plan *Plan, r *Report, originals []Message) {
	d := f.d
	plan.Epochs = f.epochs
	plan.Edits = append(slices.Clip(plan.Edits), d.lasting()...)
	r.After = r.Fixed
	for i := range d.msgs {
		if !d.removed(i) {
			r.After += d.cost[i]
		}
	}
	plan.result = surviving(d.msgs, d.removed)
	r.MessagesAfter = len(plan.result)
	if d.slot != nil {
		d.fill(plan, originals)
		r.After += d.slot.size
		if plan.Slot.At < 0 {
			r.MessagesAfter++
		}
	}
	r.Epochs = len(f.epochs)
	if d.unbinds.Edits > 0 {
		r.Stages = append(r.Stages, d.unbinds)
	}
	for i, name := range d.stageNames {
		if n := d.rewrites[i] + d.growth[i]; n > 0 {
			r.Stages = append(r.Stages, StageReport{Name: name, Edits: n, Saved: d.saved[i]})
			r.Strategy = name
		}
	}
}

// lasting are the edits that still show at the end: of several rewrites of a
// part the last, none of a message that left, and the removals as runs.
func (d *Draft) lasting() []Edit {
	type place struct {
		what     Op
		at, part int
	}
	seen := make(map[place]bool, len(d.journal))
	var edits []Edit
	for _, e := range slices.Backward(d.journal) {
		r := place{e.Op, e.At, e.Part}
		if e.Op == OpMedia {
			r.what = OpRewrite
		}
		if !seen[r] && !d.removed(e.At) {
			edits = append(edits, e)
		}
		seen[r] = true
	}
	slices.Reverse(edits)
	for i := 0; i < len(d.msgs); {
		by := d.removedBy[i]
		if by == 0 {
			i++
			continue
		}
		e := d.reasons[by-1]
		e.At, e.Origin = i, d.msgs[i].Origin
		for ; i < len(d.msgs) && d.removedBy[i] == by; i++ {
			e.Saved += d.cost[i]
		}
		e.End = i
		edits = append(edits, e)
	}
	return edits
}

func surviving(msgs []Message, removed func(int) bool) []Message {
	out := make([]Message, 0, len(msgs))
	for i := range msgs {
		if !removed(i) {
			out = append(out, msgs[i])
		}
	}
	return out
}

// Apply makes the plan's list out of the conversation it was made for, or out
// of a longer one that starts the same. text fills the slot, where there is
// one; empty: its digest does.
func (p *Plan) Apply(in Conversation, text string) []Message {
	if text == "" && p.Slot != nil {
		text = p.Slot.Digest()
	}
	if p.result != nil {
		return withSlot(p.result, p.Slot, text, p.surviving)
	}
	msgs, _ := Repair(in.Messages, p.Repair)
	msgs = slices.Clone(msgs)
	gone := make([]bool, len(msgs))
	for _, e := range p.Edits {
		if e.At < 0 || e.At >= len(msgs) {
			continue
		}
		switch m := &msgs[e.At]; e.Op {
		case OpRewrite, OpMedia:
			if e.Part >= 0 && e.Part < len(m.Parts) {
				m.Parts = slices.Clone(m.Parts)
				m.Parts[e.Part] = rewritten(m.Parts[e.Part], e.Op, e.Text)
				m.Edited = true
			}
		case OpArguments:
			if e.Part >= 0 && e.Part < len(m.Calls) {
				m.Calls = slices.Clone(m.Calls)
				m.Calls[e.Part].Arguments = Plain(e.Text)
				m.Edited = true
			}
		case OpUnbind:
			*m = m.unbound()
		case OpRemove:
			for i := e.At; i < min(e.End, len(msgs)); i++ {
				gone[i] = true
			}
		}
	}
	return withSlot(surviving(msgs, func(i int) bool { return gone[i] }), p.Slot, text, p.surviving)
}

// rewritten is a part with a new text. A media part becomes text.
func rewritten(p Part, op Op, text string) Part {
	p.Text = Plain(text)
	if op == OpMedia {
		p.Kind, p.Detail = KindText, ""
	}
	return p
}

// surviving is where message i of the repaired list stands in what is left.
func (p *Plan) surviving(i int) int {
	at := i
	for _, e := range p.Edits {
		if e.Op == OpRemove && e.At < i {
			at -= min(e.End, i) - e.At
		}
	}
	return at
}
