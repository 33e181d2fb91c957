package compact

// gap is the one contiguous run [from, to) of the list from which whole
// exchanges were removed, and the state of the scan that removes them.
//
//	instructions  user │ a t │ a t │ a t │ USER │ a t │ a t │ a t   recent …
//	                   └── removed ──┘kept        └─ removed ─┘
//	                   from                                  to
//
// Invariants: the gap starts after the task, or with those of its older messages
// that may leave, and ends before an assistant message; from never changes and to
// only grows. What is protected inside the gap survives in its place. No two
// messages become neighbours whose roles a chat template or an upstream refuses in
// that order: where a survivor is a user message, the exchange before it is kept too.
type gap struct {
	open     bool
	from, to int
	host     int  // the last message of the task, whose text the slot follows, or -1
	scan     scan // after the exchanges before to

	// The newest user message survives only while it is the newest. Then the
	// scan is repeated from redoAt, where its state was redo.
	newest int // that message, or -1
	redo   scan
	redoAt int

	// replaced is where it ended when what was in it was replaced: a slot describes
	// what left after that.
	replaced int

	// warmTo is where the gap ended as of the warm mark: a slot describes the
	// gap up to there.
	warmTo int
}

// scan is the state of the scan at one place in the list.
type scan struct {
	last    int  // the last survivor that is no instruction, or -1
	removed bool // whether something was removed after it
	plain   bool // whether it is an assistant message without results, so that the next exchange must stay
}

// DropOldest removes the oldest exchange that is still there, and others that
// cannot stay without it, and reports whether anything left. Protected and
// recent messages stay. why is the reason in a few words.
func (d *Draft) DropOldest(why string) bool {
	return d.widen(d.recent, d.reason(why))
}

// dropReplaced removes what is old before the newest message that replaces it. A
// record of it says nothing more, and leaves too.
func (d *Draft) dropReplaced() {
	d.stage = 0
	by, limit := d.reason("a later message says all of it"), min(d.newestReplaces, d.recent)
	from := d.gap.to
	for d.gap.to < limit && d.widen(limit, by) {
	}
	if d.gap.to == from {
		return
	}
	for i := d.gap.from; i < d.gap.to; i++ {
		d.noted[i] = true
	}
	d.gap.replaced = d.gap.to
	d.setSlot(nil)
	d.told, d.left = nil, nil
}

// widen moves the end of the gap until at least one message left, but not
// beyond limit, and reports whether one did.
func (d *Draft) widen(limit int, by int32) bool {
	g, count := &d.gap, d.count
	if g.open && g.newest >= 0 && g.newest != d.newestUser {
		// Another user message is the newest by now: this one may go.
		g.newest = -1
		g.scan = g.redo
		d.scanRun(g.redoAt, g.to, by)
	}
	for d.count >= count {
		if !g.open && !d.openGap(limit, by) {
			break
		}
		to := int(d.exchanges.next[g.to+1])
		for g.scan.last < 0 && to <= limit && to < d.end && !d.mayFollow(-1, to) {
			to = int(d.exchanges.next[to+1])
		}
		if to > limit || to >= d.end {
			break
		}
		d.scanRun(g.to, to, by)
		g.to = to
	}
	return d.count < count
}

// openGap opens a gap after the task, or after the instructions at the head of a
// list without one, and removes those messages of the task that do not stay. It
// reports whether there is a message after them.
func (d *Draft) openGap(limit int, by int32) bool {
	t := &d.task
	from := t.last + 1
	for t.last < 0 && from < d.end && d.msgs[from].Role.Instruction() {
		from++
	}
	if from >= d.end || from > limit && t.first < t.from {
		return false
	}
	d.gap = gap{open: true, from: from, to: from, host: t.last, scan: scan{last: t.last}, newest: -1, warmTo: d.gap.warmTo}
	if t.first < t.from {
		d.gap.from, d.gap.scan.last = t.first, -1
		d.scanRun(t.first, from, by)
	}
	return true
}

// scanRun removes the exchanges in [i, to) that are not protected.
func (d *Draft) scanRun(i, to int, by int32) {
	g := &d.gap
	s := g.scan
	for i < to {
		next := d.exchanges.endOf(i)
		switch m := &d.msgs[i]; {
		case m.Role.Instruction():
			if !d.removed(i) { // DropRepeated may have removed it
				s = d.restoreQuestion(s, i)
			}
		case d.pinned[i] || d.tells(i) || i == d.newestUser:
			if i == d.newestUser && !d.pinned[i] && !d.tells(i) {
				g.newest, g.redo, g.redoAt = i, s, i
			}
			if p := d.restoreBefore(s, i); p < g.redoAt && g.newest == i {
				g.redoAt = p
			}
			d.restore(i, next)
			s = d.after(i, next)
		case s.plain:
			d.restore(i, next)
			s = d.after(i, next)
		default:
			d.remove(i, next, by)
			s.removed = true
		}
		i = next
	}
	g.scan = s
}

// after returns the state of the scan after the survivor [i, next).
func (d *Draft) after(i, next int) scan {
	return scan{last: i, plain: d.msgs[next-1].Role == Assistant}
}

// remove removes the exchange [i, next), except pinned notes of it.
func (d *Draft) remove(i, next int, by int32) {
	for k := i; k < next; k++ {
		if !d.pinned[k] {
			d.setRemoved(k, by)
		}
	}
}

// restore puts the messages in [i, next) back, except instructions, which only
// DropRepeated removes.
func (d *Draft) restore(i, next int) {
	for k := i; k < next; k++ {
		if !d.instructs(k) {
			d.setRemoved(k, 0)
		}
	}
}

// restoreBefore restores as many exchanges before the survivor at i as it takes
// for the survivor to follow the one before it, and returns the index of the
// first of them, or i. If the survivor ends a run of user messages, the others
// leave: the survivor then follows what the run followed.
func (d *Draft) restoreBefore(s scan, i int) int {
	p := i
	for s.removed && !d.mayFollow(s.last, p) {
		q := p - 1
		for q > s.last && d.msgs[p].Role == User && d.msgs[q].Role == User {
			q--
		}
		for q > s.last && d.msgs[q].Role.Instruction() {
			q--
		}
		if q <= s.last || q < d.gap.from {
			return p
		}
		q = int(d.exchanges.start[q])
		d.restore(q, d.exchanges.endOf(q))
		p = q
	}
	return p
}

// restoreQuestion restores the user message before the instructions at i if
// they would otherwise follow an assistant message. Mistral refuses that order,
// and in the client's list they followed a question.
func (d *Draft) restoreQuestion(s scan, i int) scan {
	q := int(d.exchanges.before[i])
	if !s.removed || s.last < 0 || q <= s.last || q < d.gap.from || d.msgs[s.last].Role != Assistant || d.msgs[q].Role != User {
		return s
	}
	d.restoreBefore(s, q)
	d.restore(q, q+1)
	return d.after(q, q+1)
}

// mayFollow reports whether the message at y may directly follow the exchange
// that starts at x, or begin the list if x is -1. A user message may not follow
// results (hosted Mistral) or another user message, an assistant message may
// not follow a plain one, and a list may not begin with a call (Gemini) unless
// the client's does.
func (d *Draft) mayFollow(x, y int) bool {
	plain := x >= 0 && d.msgs[d.exchanges.endOf(x)-1].Role == Assistant
	if d.msgs[y].Role == Assistant {
		return !plain && (x >= 0 || len(d.msgs[y].Calls) == 0 || d.exchanges.startsWithCall)
	}
	return x < 0 || plain
}

// joinsWithout reports whether the neighbours of message i may follow each
// other. Inside the gap the scan knows the message before i; after the gap only
// what arrived since is read.
func (d *Draft) joinsWithout(i int) bool {
	l := &d.exchanges
	x, y := int(l.before[i]), int(l.after[i])
	for x >= 0 && d.removed(x) {
		if g := &d.gap; g.open && x < g.to && g.scan.last <= x {
			x = g.scan.last // nothing else is left of the gap before x
			break
		}
		x = int(l.before[x])
	}
	for y < d.end && d.removed(y) {
		y = int(l.after[y])
	}
	if x < 0 || y >= d.end {
		return false
	}
	return d.mayFollow(int(d.exchanges.start[x]), y)
}
