package compact

import (
	"math"
	"slices"
)

// folding is one fold: it walks the request points of a conversation in order,
// as the client must have sent them, and climbs the ladder at each point where
// the cost passes the trigger. Each epoch sees only what stood before it, so
// later turns repeat earlier decisions exactly and the provider's prompt cache
// keeps hitting. Nothing is remembered between requests: the history is the
// memory.
type folding struct {
	p      *Policy
	b      Budget
	d      *Draft
	epochs []Epoch
	// warm tells whether the warm mark of the coming epoch was passed, and
	// markAt how many messages stood before it.
	warm   bool
	markAt int
	// next is the trigger after an epoch that could not land, in tokens and in
	// messages; 0 after one that could.
	next, nextCount int
	// unbind is Conversation.Unbind, and unbindAt the request point from which on
	// the thinking before it is away: where it was taken out first, so that earlier
	// epochs stay where they were. 0: there is none.
	unbind, unbindAt int
	// halves are the messages, by Origin, that go on with an answer: see halves.
	halves map[int]bool
}

// fold compacts a repaired list. It gives nil where no epoch is due, which is
// known without looking at single request points: costs only grow along a
// list.
func fold(p *Policy, msgs []Message, costs []int, in Conversation, c Counter, b Budget) *folding {
	f := &folding{p: p, b: b, halves: halves(in.Messages)}
	f.unbinding(in.Unbind, msgs)
	total := total(in.Fixed, b.Step, costs)
	if total <= f.start(0, b.Placing) && len(msgs) <= f.trigger(0, b.Messages) && f.unbindAt == 0 && (b.Hard == 0 || total <= b.Hard) {
		return nil
	}
	f.d = newDraft(p, msgs, costs, coarse(in.Fixed, b.Step), c)
	f.walk(false)
	return f
}

// total is the cost of a list of messages with what is fixed around it.
func total(fixed, step int, costs []int) int {
	n := coarse(fixed, step)
	for _, cost := range costs {
		n += cost
	}
	return n
}

// walk looks at every request point in order. last: it climbs at the end even
// if no epoch is due there, once the warm mark was passed.
func (f *folding) walk(last bool) {
	end := len(f.d.msgs)
	for k := f.point(0); ; k = f.point(k) {
		was := f.d.end
		f.advance(k)
		if was < f.unbindAt && k >= f.unbindAt {
			f.d.unbind(f.unbind, len(f.epochs), "taken out of an earlier request")
		}
		due := f.due()
		if !f.warm && (due || f.d.total > f.warming(f.d.stays, f.d.budget)) {
			f.mark()
		}
		if early := last && k == end && f.warm; due || early {
			f.climb(early)
		}
		if k == end {
			return
		}
	}
}

// point returns the first request point behind k: before an assistant message
// that came after all that is before it, or the end. Where repair moved a result
// forward, no client sent what ends between its call and its old place; and none
// sent half of an answer, behind which its bound thinking would stand.
func (f *folding) point(k int) int {
	if f.p.Once || k >= len(f.d.msgs) {
		return len(f.d.msgs)
	}
	k = int(f.d.parts.next[k+1])
	for k < len(f.d.msgs) && (f.d.msgs[k].Origin < int(f.d.parts.latest[k]) || f.halves[f.d.msgs[k].Origin]) {
		k = int(f.d.parts.next[k+1])
	}
	return k
}

// advance makes the messages up to the request point k visible.
func (f *folding) advance(k int) {
	d := f.d
	for i := d.end; i < k; i++ {
		m := &d.msgs[i]
		d.total += d.cost[i]
		d.count++
		if m.Bound {
			d.bound = append(d.bound, i)
		}
		switch m.Role {
		case User:
			d.newest = i
			if d.first < 0 {
				d.first = i
			}
		case Assistant:
			d.calling = i
		}
		if m.Role.Head() || d.pinned[i] || i == d.first {
			d.must += d.whole[i]
			d.musts++
		}
		for p := range m.Parts {
			switch kind := m.Parts[p].Kind; {
			case kind.media():
				d.media = append(d.media, Ref{i, p})
			case kind == KindText && m.Role.Result() && !d.pinned[i]:
				d.large = append(d.large, Ref{i, p})
			}
		}
	}
	d.end = k
	if d.stays = d.must; !f.p.Once {
		d.stays += d.newestStays()
	}
	d.budget = f.within(f.placing())
	// What was old once stays so, also where there is more room now.
	d.recent = max(d.recent, d.recentAt(f.p.KeepRecent, d.Room(), max(0, f.b.Messages-d.musts), f.p.Once))
}

// placing is the budget that epochs plan for at this request point, in tokens.
// Where what must stay leaves less than a quarter of the budget, little can be
// won by forgetting: then it is what must stay and a quarter of the budget, if
// the upstream takes that much. A request that is refused above its budget gets
// no more than the budget.
func (f *folding) placing() int {
	b, stays := f.b.Placing, f.d.stays
	if f.p.Once || f.p.Reject && stays <= b {
		return b
	}
	more := stays + b/4
	if f.b.Limit >= stays {
		more = min(more, f.b.Limit)
	}
	return max(b, more)
}

// due reports whether an epoch starts at the current request point. While the
// request fits, enough must be able to leave: a record takes three quarters of
// what little leaves, and costs the prefix.
func (f *folding) due() bool {
	d := f.d
	if f.b.Hard > 0 && d.total > f.b.Hard {
		f.next = min(f.next, d.budget)
		return true
	}
	if f.open() {
		f.next = min(f.next, d.budget)
		return d.Excess() > 0 || d.count > f.b.Messages
	}
	trigger := f.start(d.stays, f.placing())
	return d.total > max(trigger, f.next) && (d.Excess() > 0 || f.p.Once || d.removable() >= (trigger-f.landing(d.stays, d.budget))/2) ||
		d.count > max(f.trigger(d.musts, f.b.Messages), f.nextCount)
}

// trigger is the cost above which an epoch starts: a share of the budget.
// Where what must stay fills most of the budget, four fifths of the room above
// that, so that an epoch always has something to win. Compact filled in the
// default.
func (f *folding) trigger(stays, budget int) int {
	t := share(f.p.Trigger, budget)
	if f.p.Inclusive {
		t = max(0, t-1)
	}
	if f.p.Once {
		return min(budget, t)
	}
	room := max(0, budget-stays)
	return min(budget, max(t, stays+share(0.8, room)))
}

// start is the trigger in tokens.
func (f *folding) start(stays, budget int) int {
	t := f.trigger(stays, budget)
	if f.p.Start > 0 {
		t = min(t, f.p.Start)
	}
	return t
}

// landing is the cost at which an epoch stops.
func (f *folding) landing(stays, budget int) int {
	if f.p.FullLadder {
		return stays
	}
	l := f.p.Land
	if l <= 0 {
		l = DefaultLand
	}
	return stays + share(l, max(0, budget-stays))
}

// warming is the cost above which a text for the slot would be prepared.
func (f *folding) warming(stays, budget int) int {
	budget = f.within(budget)
	w := f.p.Warm
	if w <= 0 {
		w = DefaultWarm
	}
	return stays + share(w, max(0, budget-stays))
}

// mark is the warm mark: it fixes which gap the slot of the coming epoch
// describes, all that is older than what is recent now.
func (f *folding) mark() {
	d := f.d
	f.warm, f.markAt = true, d.end
	recent := d.recent
	for recent > 0 && recent < d.end && d.msgs[recent].Role != Assistant {
		recent--
	}
	d.warmTo = recent
}

// climb runs the ladder at the current request point. early: it is not due, and
// climbs down to where it would if it were. What thinking is bound to changes
// here, so all of it leaves first.
func (f *folding) climb(early bool) {
	d := f.d
	before, count, edits, slot := d.total, d.count, len(d.journal), d.slot
	d.trail, d.excess = d.trail[:0], 0
	trigger, land := f.start(d.stays, d.budget), f.landing(d.stays, d.budget)
	triggerCount, landCount := f.trigger(d.musts, f.b.Messages), f.landing(d.musts, f.b.Messages)
	d.land, d.landCount = land, landCount
	passed := max(trigger, f.next)
	if before <= passed && !early {
		d.land = before // only the number of messages is at fault
	}
	if count <= max(triggerCount, f.nextCount) {
		d.landCount = count
	}
	d.epoch = len(f.epochs) + 1
	d.unbind(math.MaxInt, d.epoch, "bound to what stood before it")
	for i, s := range f.p.Ladder {
		if d.Over() == 0 && d.Crowded() == 0 && d.Excess() == 0 {
			break
		}
		d.stage = i
		s.Shrink(d)
	}
	d.yieldSlot(0)
	f.next, f.nextCount, f.warm = 0, 0, false
	if d.total > land {
		f.next = min(d.budget, d.total+max(0, trigger-land)/4)
	}
	if d.count > landCount {
		f.nextCount = min(f.b.Messages, d.count+max(0, triggerCount-landCount)/4)
	}
	// Compare the removals too: what left and what returned may cost the same.
	if d.total != before || d.count != count || len(d.journal) != edits || d.slot != slot || d.moved() {
		f.epochs = append(f.epochs, Epoch{
			At: d.end, Before: before, After: d.total, Budget: d.budget, Trigger: trigger, Land: land,
			Excess: d.excess, Crowded: before <= passed,
		})
		return
	}
	for _, t := range slices.Backward(d.trail) {
		d.removedBy[t.at] = t.was // what came back and left again did so in no epoch
	}
}

// recentAt is the index of the first recent message as of the current request
// point. It measures by what messages cost before any edit, so that an edit
// does not move it. room and seats are what is left of both budgets, in tokens
// and in messages: a share of each may be recent, for thousands of very short
// messages are few tokens. The newest exchange is recent whatever it costs,
// unless free.
func (d *Draft) recentAt(k KeepRecent, room, seats int, free bool) int {
	if k.Messages > 0 {
		r := max(0, d.end-k.Messages) // it may be within an exchange
		if d.calling >= 0 && !free {
			r = min(r, d.calling)
		}
		return r
	}
	limit := k.Tokens
	if limit <= 0 {
		limit = DefaultKeepTokens
	}
	s := k.Share
	if s <= 0 {
		s = DefaultKeepShare
	}
	limit = min(limit, share(s, room))
	r, _ := slices.BinarySearchFunc(d.sum[:d.end+1], d.sum[d.end]-limit, func(a, b int) int { return a - b })
	r = max(r, d.end-share(s, seats))
	for r < d.end && int(d.parts.start[r]) != r {
		r++ // the exchange that r is in does not fit whole
	}
	least := k.Exchanges
	if least <= 0 {
		least = DefaultKeepExchanges
	}
	at := d.end
	for ; least > 0 && at > 0; least-- {
		for at--; at > 0 && d.msgs[at].Role != Assistant; at-- {
		}
	}
	return min(r, at)
}

func newDraft(p *Policy, msgs []Message, costs []int, fixed int, c Counter) *Draft {
	n, stages := len(msgs), len(p.Ladder)
	d := &Draft{
		counter: c, msgs: slices.Clone(msgs), whole: withoutThinking(msgs, costs, c), cost: slices.Clone(costs),
		unbinds: StageReport{Name: stageThinking},
		sum:     make([]int, n+1), parts: layoutOf(msgs), pinned: p.Pins.mask(msgs),
		total: fixed, must: fixed, stays: fixed, first: -1, newest: -1, calling: -1, placement: p.Placement,
		cursor: make([]int, stages), rewrites: make([]int, stages), growth: make([]int, stages),
		saved: make([]int, stages), removedBy: make([]int32, n), stageNames: make([]string, stages),
	}
	for i, cost := range d.whole {
		d.sum[i+1] = d.sum[i] + cost
	}
	for i, s := range p.Ladder {
		d.stageNames[i] = s.Name()
	}
	return d
}

// share is a part of a whole, rounded down.
func share(s float64, whole int) int { return int(s * float64(whole)) }
