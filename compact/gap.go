package compact

// gap is the one contiguous run of the list from which whole exchanges were
// removed. It starts after the first user message and ends before an assistant
// message, so that no chat template sees a run of roles that the client's list
// did not have: user and user, assistant and assistant, or a user directly
// behind a tool run (hosted Mistral refuses that one). What is protected
// inside it survives in its place; where a survivor is a user message, the
// exchange before it stays too, as a bridge.
//
//	head  user │ a t │ a t │ a t │ USER │ a t │ a t │ a t   recent …
//	           └── removed ──┘bridge  └─ removed ─┘
//	           from                              to
type gap struct {
	open     bool
	from, to int
	host     int // the first user message, whose text a slot follows, or -1
	at       seam
	// back is where the scan must start again once the newest user message,
	// which survives only as long as it is the newest, is not it any more.
	back   seam
	backAt int
	user   int // that message, or -1
}

// seam is the state of the scan behind what it has decided so far.
type seam struct {
	last   int  // the last survivor that is no head message, or -1
	cut    bool // something was removed since
	follow bool // the last survivor is an assistant message without results: what follows it must stay
}

// Grow removes the oldest exchange that is still there, and with it what
// cannot stay alone, and tells whether anything left. Nothing protected and
// nothing recent goes. why is the reason in a few words.
func (d *Draft) Grow(why string) bool {
	before := d.total
	if !d.grow(d.recent, d.reason(why)) {
		return false
	}
	d.saved[d.stage] += before - d.total
	d.growth[d.stage]++
	return true
}

// DropAsked removes the user messages of the run that the newest one ends, the
// oldest first, until the draft fits. Nothing else is removed, so that the newest
// follows what the run followed. why is the reason in a few words.
func (d *Draft) DropAsked(why string) {
	if d.Excess() == 0 && d.Crowded() == 0 || d.newest < 0 {
		return
	}
	start := d.newest
	for start > 0 && d.msgs[start-1].Role == User {
		start--
	}
	before, by := d.total, d.reason(why)
	for i := start; i < d.newest && (d.Excess() > 0 || d.Crowded() > 0); i++ {
		if i != d.first && !d.pinned[i] && !d.removed(i) {
			d.setRemoved(i, by)
			d.growth[d.stage]++
		}
	}
	d.saved[d.stage] += before - d.total
}

// grow removes at least one exchange before limit, if there is one.
func (d *Draft) grow(limit int, by int32) bool {
	count := d.count
	if d.gap.open && d.gap.user >= 0 && d.gap.user != d.newest {
		// The user message that was the newest may go now, and its bridge.
		d.gap.user = -1
		d.gap.at = d.gap.back
		d.scan(d.gap.backAt, d.gap.to, by)
	}
	for d.count >= count {
		if !d.gap.open && !d.openGap() {
			break
		}
		to := d.gap.to
		if to < len(d.msgs) {
			to = int(d.parts.next[to+1])
		}
		for d.gap.at.last < 0 && to <= limit && to < d.end && !d.joins(-1, to) {
			to = int(d.parts.next[to+1])
		}
		if to == d.gap.to || to > limit || to >= d.end {
			break
		}
		d.scan(d.gap.to, to, by)
		d.gap.to = to
	}
	return d.count < count
}

// openGap puts an empty gap behind the first user message, or behind the head
// where there is none.
func (d *Draft) openGap() bool {
	from, last := 0, -1
	if d.first >= 0 {
		from, last = d.first+1, d.first
	} else {
		for from < d.end && d.msgs[from].Role.Head() {
			from++
		}
	}
	if from >= d.end {
		return false
	}
	d.gap = gap{open: true, from: from, to: from, host: last, at: seam{last: last}, user: -1}
	return true
}

// scan decides about the exchanges in [i, to): they leave unless protected.
func (d *Draft) scan(i, to int, by int32) {
	s := d.gap.at
	for i < to {
		next := d.parts.endOf(i)
		switch m := &d.msgs[i]; {
		case m.Role.Head():
			if !d.removed(i) { // a later one may repeat it: see DropRepeated
				s = d.asked(s, i)
			}
		case d.pinned[i] || i == d.first || i == d.newest:
			if i == d.newest && !d.pinned[i] && i != d.first {
				d.gap.user, d.gap.back, d.gap.backAt = i, s, i
			}
			if p := d.bridge(s, i); p < d.gap.backAt && d.gap.user == i {
				d.gap.backAt = p
			}
			d.keep(i, next)
			s = d.after(i, next)
		case s.follow:
			d.keep(i, next)
			s = d.after(i, next)
		default:
			for k := i; k < next; k++ {
				d.setRemoved(k, by)
			}
			s.cut = true
		}
		i = next
	}
	d.gap.at = s
}

// asked puts the user message before the instructions at i back where they
// would come to stand behind an answer, which Mistral refuses: the client let
// them stand behind a question.
func (d *Draft) asked(s seam, i int) seam {
	q := i - 1
	for q > s.last && d.msgs[q].Role.Head() {
		q--
	}
	if !s.cut || s.last < 0 || q <= s.last || q < d.gap.from || d.msgs[s.last].Role != Assistant || d.msgs[q].Role != User {
		return s
	}
	d.bridge(s, q)
	d.keep(q, q+1)
	return d.after(q, q+1)
}

// keep puts the messages in [i, next) back. Instructions never leave with the
// gap: where one is away, a later one repeats it.
func (d *Draft) keep(i, next int) {
	for k := i; k < next; k++ {
		if !d.msgs[k].Role.Head() {
			d.setRemoved(k, 0)
		}
	}
}

// after is the seam behind the survivor [i, next).
func (d *Draft) after(i, next int) seam {
	return seam{last: i, follow: d.msgs[i].Role == Assistant && next == i+1}
}

// bridge puts back as many exchanges before the survivor at i as it takes to
// make the seam legal, and returns the index of the first of them, or i. Of a
// run of user messages that ends with the survivor, the others leave: what the
// survivor then follows is what the run followed.
func (d *Draft) bridge(s seam, i int) int {
	p := i
	for s.cut && !d.joins(s.last, p) {
		q := p - 1
		for q > s.last && d.msgs[p].Role == User && d.msgs[q].Role == User {
			q--
		}
		for q > s.last && d.msgs[q].Role.Head() {
			q--
		}
		if q <= s.last || q < d.gap.from {
			return p
		}
		q = int(d.parts.start[q])
		d.keep(q, d.parts.endOf(q))
		p = q
	}
	return p
}

// joins tells whether the message at y may stand directly behind the exchange
// that starts at x (-1: the start of the list).
func (d *Draft) joins(x, y int) bool {
	plain := x >= 0 && d.msgs[x].Role == Assistant && d.parts.endOf(x) == x+1
	if d.msgs[y].Role == Assistant {
		// Gemini refuses a list that begins with a call.
		return !plain && (x >= 0 || len(d.msgs[y].Calls) == 0 || d.parts.calling)
	}
	return x < 0 || plain
}

// reason notes why messages leave and gives its number.
func (d *Draft) reason(why string) int32 {
	e := Edit{Op: OpRemove, Stage: d.stageNames[d.stage], Why: why, Epoch: d.epoch}
	if n := len(d.reasons); n == 0 || d.reasons[n-1] != e {
		d.reasons = append(d.reasons, e)
	}
	return int32(len(d.reasons))
}
