package compact

// folding is one fold: it visits the request points of a list in order, as the
// client must have sent them, and climbs the ladder at each point where an
// epoch is due. Each epoch sees only what came before it, so that later requests
// repeat earlier decisions exactly. Nothing is remembered between requests: the
// history is the memory.
type folding struct {
	*input
	budget   Budget // at this request point, in tokens of the counter
	d        *Draft
	epochs   []Epoch
	requests int // request points visited
	// mark is the number of messages before the warm mark of the coming epoch; 0
	// until that is passed.
	mark int
	// next and nextCount are the trigger after an epoch that could not land, in
	// tokens and in messages; 0 after one that could.
	next, nextCount int
	// missed: the last epoch ended above the budget. Beside what was not old it left
	// beyond tokens, of a record those of one made anew.
	missed bool
	beyond int
}

func newFolding(in *input) *folding { return &folding{input: in, budget: in.budget, d: newDraft(in)} }

// fold folds a repaired list. It returns nil if no epoch is due. Costs only grow
// along the list, so the total decides that.
func fold(in *input) *folding {
	b := in.budget
	total := in.total()
	if total <= in.start(0, in.least()) && len(in.msgs) <= in.trigger(0, b.Messages) && in.unbindAt == 0 && (b.Hard == 0 || total <= b.Hard) {
		return nil
	}
	f := newFolding(in)
	f.visitAll(false)
	return f
}

// visitAll visits every request point in order. With early set it climbs at the
// last one even if no epoch is due there, provided that the warm mark was
// passed.
func (f *folding) visitAll(early bool) {
	for k := f.pointAfter(0); ; k = f.pointAfter(k) {
		was := f.d.end
		f.show(k)
		if was < f.unbindAt && k >= f.unbindAt {
			f.d.unbind(f.conv.Unbind, len(f.epochs), "taken out of an earlier request")
		}
		if k > f.history {
			return
		}
		f.requests++
		due := f.due()
		if f.mark == 0 && (due || f.policy.Summaries && f.d.total > f.warming(f.d.required, f.d.budget)) {
			f.setWarmMark()
		}
		last := k == len(f.msgs)
		if now := early && last && f.mark > 0; due || now {
			if f.policy.Left() {
				return
			}
			f.climb(now)
		}
		if last {
			return
		}
	}
}

// pointAfter returns the first request point after k: before an assistant
// message that came after everything before it, or the end. Where repair moved
// a result forward, no client sent a list that ends between its call and its old
// place. Nor did one send half of an answer, whose bound thinking would follow.
// The history ends with one, unless the newest answer ends it: that came later.
func (f *folding) pointAfter(k int) int {
	end := len(f.msgs)
	if k >= f.history {
		return end
	}
	if f.policy.PerRequest != nil {
		return f.history
	}
	l := &f.d.exchanges
	k = int(l.next[k+1])
	for k < end && (f.msgs[k].Origin < int(l.latest[k]) || f.continues[f.msgs[k].Origin]) {
		k = int(l.next[k+1])
	}
	if k > f.history && f.msgs[f.history-1].Role != Assistant {
		return f.history
	}
	return k
}

// show makes the messages before the request point k visible, and sets what
// depends on it.
func (f *folding) show(k int) {
	d := f.d
	for i := d.end; i < k; i++ {
		d.show(i)
		d.add(i, &d.msgs[i], d.pinned[i])
	}
	f.budget = f.input.budget.at(rateAt(f.conv.Rates, d.length))
	d.settleTask(f.budget.Placing / taskShare)
	perRequest := f.policy.PerRequest != nil
	if d.required = d.permanent; !perRequest {
		d.required += d.newestRequired(f.counter)
	}
	f.budget = f.budget.Above(d.required)
	d.budget = f.budget.tried(f.placing())
	// What was old once stays old, even if there is more headroom now.
	d.recent = max(d.recent, d.recentAt(f.policy.KeepRecent, d.Headroom(), max(0, f.budget.Messages-d.permanentCount), perRequest))
}

// setWarmMark is called at the warm mark. It fixes which gap the slot of the
// coming epoch describes: all that is older than what is recent now.
func (f *folding) setWarmMark() {
	d := f.d
	f.mark = d.end
	to := d.recent
	for to > 0 && to < d.end && !d.answers(to) {
		to--
	}
	d.gap.warmTo = to
}

// Forecast returns what is known of the next epoch before it is due: the warm mark, as the
// number of messages of the repaired list before it, and the slot that an epoch there
// would make, so that a text for it can be prepared. The mark is 0 before it was passed,
// for a policy that does not fold or has no summaries, and where no epoch helps any more.
//
// The slot depends only on the messages before the mark, on the policy and on the budget.
// The last span of the next epoch's slot stands for exactly these messages, or the epoch
// adds none; only its Size may differ, because more messages arrive until then. Where the
// slot has to shrink for the request to fit, or its room grows, one span is made anew for
// these and all before. Where that is so at the mark already, or an epoch would make no
// slot, it is nil. The slot costs one climb of the ladder at each epoch so far.
func (p *Plan) Forecast() (mark int, slot *Slot) {
	if p.in.policy.PerRequest != nil || !p.in.policy.Summaries {
		return 0, nil
	}
	f := p.fold
	if f == nil {
		// Costs only grow along the list, so the total decides.
		if p.in.total() <= p.in.warming(0, p.in.least()) {
			return 0, nil
		}
		f = newFolding(p.in)
		f.visitAll(false)
	}
	if mark = f.mark; mark == 0 || f.hopeless() { // then nobody knows when the next one comes
		return 0, nil
	}
	short := *p.in
	short.msgs, short.costs, short.history = short.msgs[:mark], short.costs[:mark], mark
	f = newFolding(&short)
	f.visitAll(true)
	if s := f.d.slot; s == nil || s.last().End != mark || s.resized {
		return mark, nil // the climb made none, or at the epoch there may be room to add to it
	}
	return mark, f.d.newSlot()
}

// taskShare is the share of the budget that the task takes at most, unless its last
// message alone takes more: one part of so many.
const taskShare = 3
