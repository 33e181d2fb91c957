package compact

import "slices"

// books say what was done to a draft, by which stage, and why.
//
// Invariants: every edit that was made is in journal, in order; every removed
// message names its reason; moves has every removal and restoration, in order.
type books struct {
	stageNames   []string
	stage, epoch int    // the stage at work, and its epoch from 1
	journal      []Edit // edits
	reasons      []Edit // why messages left; view.removedBy refers to them
	moves        []move // removals and restorations
	slotStage    int    // the stage that made the slot
	excess       int    // tokens above the budget when this epoch's last resort began, or 0
}

// move is one removal or restoration: message at was removed by was before.
type move struct {
	at  int
	was int32
}

// reason notes why messages leave and returns its number for setRemoved.
func (b *books) reason(why string) int32 {
	e := Edit{Op: OpRemove, Stage: b.stageNames[b.stage], Why: why, Epoch: b.epoch}
	if n := len(b.reasons); n == 0 || b.reasons[n-1] != e {
		b.reasons = append(b.reasons, e)
	}
	return int32(len(b.reasons))
}

// enter makes an edit of message i, adds it to the journal, and updates what the message costs.
func (d *Draft) enter(i int, e Edit) {
	m := &d.msgs[i]
	e.apply(m, d.own[i])
	d.own[i] = true
	d.cost[i] -= e.Saved
	d.total -= e.Saved
	d.touched = append(d.touched, i)
	e.Stage, e.Epoch, e.Origin, e.At = d.stageNames[d.stage], d.epoch, m.Origin, i
	d.journal = append(d.journal, e)
}

// setRemoved removes message i for the reason by, or restores it if by is 0. A
// message that was removed before keeps its first reason.
func (d *Draft) setRemoved(i int, by int32) {
	was := d.removedBy[i]
	switch {
	case (was == 0) == (by == 0):
		return
	case by != 0:
		d.total -= d.cost[i]
		d.count--
	default:
		d.total += d.cost[i]
		d.count++
	}
	d.moves = append(d.moves, move{i, was})
	d.touched = append(d.touched, i)
	d.removedBy[i] = by
}

// undo undoes the removals and restorations behind the first n, but for what they cost.
func (d *Draft) undo(n int) {
	for _, m := range slices.Backward(d.moves[n:]) {
		d.removedBy[m.at] = m.was
	}
	d.moves = d.moves[:n]
}

// moved reports whether the removals and restorations behind the first n changed the
// set of removed messages.
func (d *Draft) moved(n int) bool {
	once := make(map[int]bool)
	for _, m := range d.moves[n:] {
		if once[m.at] = !once[m.at]; !once[m.at] {
			delete(once, m.at) // it is where it was
		}
	}
	return len(once) > 0
}

// all returns every edit that was made, also those that no longer show: each rewrite,
// in order, and the removal of the messages that are away at the end, those that
// followed each other in the client's list as one. What they saved is what the messages
// came to cost less, exactly.
func (d *Draft) all() []Edit { return append(slices.Clip(d.journal), d.removals(true)...) }

// removals returns the removals of the messages that are away, those in a row that left
// for one reason as one, or only if they followed each other in the client's list.
func (d *Draft) removals(asSent bool) (edits []Edit) {
	for i := 0; i < len(d.msgs); i++ {
		by := d.removedBy[i]
		if by == 0 {
			continue
		}
		e := d.reasons[by-1]
		e.At, e.Origin, e.Saved = i, d.msgs[i].Origin, d.cost[i]
		for i+1 < len(d.msgs) && d.removedBy[i+1] == by && (!asSent || d.msgs[i+1].Origin == d.msgs[i].Origin+1) {
			i++
			e.Saved += d.cost[i]
		}
		e.End = i + 1
		edits = append(edits, e)
	}
	return edits
}

// stages returns what each stage did, from what was done and still counts: thinking
// first, the others in the order of the ladder. With what repair saved it adds up to
// what the conversation costs less.
func (d *Draft) stages() (reports []StageReport) {
	at := make(map[string]int, len(d.stageNames)+1)
	for _, name := range append([]string{stageThinking}, d.stageNames...) {
		if _, twice := at[name]; !twice {
			at[name] = len(reports)
			reports = append(reports, StageReport{Name: name})
		}
	}
	for _, e := range d.all() {
		r := &reports[at[e.Stage]]
		r.Edits += e.Messages()
		r.Saved += e.Saved
	}
	if d.slot != nil {
		r := &reports[at[d.stageNames[d.slotStage]]]
		r.Edits++
		r.Saved -= d.slot.size
	}
	return slices.DeleteFunc(reports, func(r StageReport) bool { return r.Edits == 0 })
}

// lasting returns the edits that still show at the end: the last rewrite of
// each part of a message that is left, and the removals as runs.
func (d *Draft) lasting() []Edit {
	seen := make(map[Edit]bool, len(d.journal)) // by what an edit is of
	var edits []Edit
	for _, e := range slices.Backward(d.journal) {
		of := Edit{Op: e.Op, At: e.At, Part: e.Part}
		if e.Op == OpMedia {
			of.Op = OpRewrite
		}
		if !seen[of] && !d.removed(e.At) {
			edits = append(edits, e)
		}
		seen[of] = true
	}
	slices.Reverse(edits)
	return append(edits, d.removals(false)...)
}
