package compact

import "slices"

// Compact repairs a conversation and folds it under its budget. It is a pure
// function of its arguments and total: whatever the conversation, the plan is
// legal, and the report says what remains over the budget.
func Compact(in Conversation, p *Policy, c Counter, b Budget) (Plan, Report) {
	mode := p.Repair
	if mode == "" {
		mode = RepairAnswer
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
		Outcome: Untouched, Before: total, After: total, Budget: b.Tokens, Fixed: in.Fixed,
		MessagesBefore: len(in.Messages), MessagesAfter: len(msgs), Repairs: len(edits),
	}
	if len(edits) > 0 {
		r.Outcome = Repaired
		r.Before = in.Fixed + CostAll(c, in.Messages)
	}
	policy := *p
	if policy.Trigger <= 0 && c.Exact() {
		policy.Trigger = DefaultTriggerExact
	}
	if f := fold(&policy, msgs, costs, in.Fixed, c, b); f != nil && len(f.epochs) > 0 {
		r.Outcome = Compacted
		f.finish(&plan, &r)
	}
	if r.After > b.Tokens || r.MessagesAfter > b.Messages {
		r.Outcome = Over
	}
	return plan, r
}

// finish writes what the fold did into the plan and the report.
func (f *folding) finish(plan *Plan, r *Report) {
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
	r.Epochs = len(f.epochs)
	for i, name := range d.stageNames {
		if n := d.rewrites[i] + d.growth[i]; n > 0 {
			r.Stages = append(r.Stages, StageReport{Name: name, Edits: n, Saved: d.saved[i]})
		}
	}
}

// lasting are the edits that still show at the end: of several rewrites of a
// part the last, none of a message that left, and the removals as runs.
func (d *Draft) lasting() []Edit {
	seen := make(map[Ref]bool, len(d.journal))
	var edits []Edit
	for _, e := range slices.Backward(d.journal) {
		r := Ref{e.At, e.Part}
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
// of a longer one that starts the same.
func (p *Plan) Apply(in Conversation) []Message {
	if p.result != nil {
		return p.result
	}
	msgs, _ := Repair(in.Messages, p.Repair)
	msgs = slices.Clone(msgs)
	gone := make([]bool, len(msgs))
	for _, e := range p.Edits {
		switch {
		case e.At < 0 || e.At >= len(msgs):
		case e.Op == OpRewrite && e.Part >= 0 && e.Part < len(msgs[e.At].Parts):
			m := &msgs[e.At]
			m.Parts = slices.Clone(m.Parts)
			m.Parts[e.Part].Text = Plain(e.Text)
			m.Edited = true
		case e.Op == OpRemove:
			for i := e.At; i < min(e.End, len(msgs)); i++ {
				gone[i] = true
			}
		}
	}
	return surviving(msgs, func(i int) bool { return gone[i] })
}
