package compact

import (
	"cmp"
	"math"
	"slices"
)

// The methods of input say where epochs start and stop. required is what must
// stay, budget the most that a request may have, both in tokens or both in
// messages.

// trigger returns the cost above which an epoch starts: a share of the budget.
// Where what must stay fills most of the budget, it is four fifths of the
// headroom above that, so that an epoch always has something to win; without a
// prompt cache it is the half.
func (in *input) trigger(required, budget int) int {
	t := share(in.policy.Trigger, budget)
	if r := in.policy.PerRequest; r != nil {
		if r.Inclusive {
			t = max(0, int(math.Ceil(in.policy.Trigger*float64(budget)))-1)
		}
		return min(budget, t)
	}
	headroom := max(0, budget-required)
	least := 0.8
	if in.policy.CachedPrice >= 1 {
		least = DefaultTriggerUncached
	}
	return min(budget, max(t, required+share(least, headroom)))
}

// start returns the trigger in tokens.
func (in *input) start(required, budget int) int {
	t := in.trigger(required, budget)
	if r := in.policy.PerRequest; r != nil && r.Start > 0 {
		t = min(t, r.Start)
	}
	return t
}

// landing returns the cost at which an epoch stops.
func (in *input) landing(required, budget int) int {
	if r := in.policy.PerRequest; r != nil && r.FullLadder {
		return required
	}
	return required + share(positive(in.policy.Land, DefaultLand), max(0, budget-required))
}

// warming returns the cost of the warm mark.
func (in *input) warming(required, budget int) int {
	return required + share(positive(in.policy.Warm, DefaultWarm), max(0, in.budget.tried(budget)-required))
}

// placing returns the budget that an epoch at this request point plans for, in
// tokens. Where what must stay leaves less than a quarter of the budget, little
// can be won by forgetting. Then it is what must stay and a quarter of the
// budget, as far as the upstream takes that much. Where the newest results do not
// fit beside the record, they may take half of what is reserved for the answer. So it
// is no smaller for a larger window, and above no window that is known. A policy that
// rejects what is over its budget gets no more than the budget.
func (f *folding) placing() int {
	b, required := f.budget.Placing, f.d.required
	if f.policy.PerRequest != nil || f.policy.Reject && required <= b {
		return b
	}
	more := required + b/4
	if f.budget.Limit > 0 {
		more = min(more, f.budget.Limit)
	}
	return max(b, more, f.roomy())
}

// roomy returns what the request may cost for its newest results to stay whole beside
// the least record, as far as half of the reserve goes.
func (f *folding) roomy() int {
	if f.policy.PerRequest != nil || f.policy.Reject {
		return 0
	}
	return min(f.budget.Newest, f.d.required+f.d.newestResults()*slotShare/(slotShare-1))
}

// due reports whether an epoch starts at this request point. A request that
// does not fit forces one. Any other epoch must pay.
func (f *folding) due() bool {
	d := f.d
	if f.budget.Hard > 0 && d.total > f.budget.Hard {
		f.next = min(f.next, d.budget)
		return true
	}
	if f.withinTurn() {
		f.next = min(f.next, d.budget)
		return d.total > d.budget || d.count > f.budget.Messages
	}
	left := f.left()
	if f.hopeless() {
		return d.total-left > f.budget.Placing/2 && f.pays(left) || d.count > max(f.trigger(d.permanentCount, f.budget.Messages), f.nextCount)
	}
	trigger := max(f.start(d.required, f.placing()), f.next)
	return d.total > trigger && (f.policy.PerRequest != nil || f.pays(left) && !f.missesAgain()) || f.forced(left) ||
		d.count > max(f.trigger(d.permanentCount, f.budget.Messages), f.nextCount)
}

// Thinking is bound to what came before it when it was written: to the bytes
// that the upstream got, which are those of a plan. Between two epochs plans
// repeat them, so the thinking after an epoch is good until the next. At an
// epoch all bound thinking leaves, and stays away in every later request,
// because epochs are repeated. What is left lacks a leading run of thinking,
// which upstreams allow, and never a piece of the middle.

// withinTurn reports whether the model is in the middle of a turn with thinking
// that the upstream may want back. Then an epoch is made only if the request
// would not fit. A policy that does not fold repeats nothing, so it may not
// wait.
func (f *folding) withinTurn() bool {
	d, last := f.d, f.d.end-1
	for last > 0 && d.msgs[last].Role.Instruction() && !d.instructs(last) {
		last-- // a note behind the results
	}
	return len(d.bound) > 0 && f.policy.PerRequest == nil && d.msgs[last].Role.Result()
}

// hopeless reports whether further epochs are of no use: none brings the request within
// its budget, and either the window, which is far above that, does not need one, or what
// must stay is more than the whole window, a sixteenth above Limit. Such an epoch only
// saves, and would be due at each request.
func (f *folding) hopeless() bool {
	b := &f.budget
	if !f.missed || f.policy.PerRequest != nil || f.d.required <= b.Placing {
		return false
	}
	return b.Limit == 0 || b.Limit >= 2*b.Placing && f.d.total <= b.Limit || f.d.required-f.d.required/16 > b.Limit
}

// left returns about what an epoch at this request point would leave.
func (f *folding) left() int { return max(f.landing(f.d.required, f.d.budget), f.d.withoutOld()) }

// forced reports whether the request does not fit, by what its epoch plans for,
// or by the budget that an epoch could keep. If the last one could not, it is
// tried again when enough arrived.
func (f *folding) forced(left int) bool {
	if f.policy.PerRequest != nil {
		return false
	}
	b := f.budget.Placing
	return f.d.total > f.d.budget || f.d.total > b && left <= b && (!f.missed || f.d.total > f.next && !f.missesAgain())
}

// missesAgain reports whether another epoch would end above the budget like the last
// one, because what is not old and what that left beside it do not fit.
func (f *folding) missesAgain() bool {
	return f.missed && f.d.withoutOld()+f.beyond > f.budget.Placing
}

// pays reports whether an epoch at this request point saves more than it costs.
// It saves the price of reading what leaves, in each of the requests to come:
// as many as there were is the best guess. It costs the price of sending anew
// what stays after the task.
func (f *folding) pays(left int) bool {
	cached := cmp.Or(f.policy.CachedPrice, DefaultCachedPrice)
	saved := float64(f.d.total-left) * cached * float64(f.requests)
	return saved > float64(left-f.d.permanent)*(1-cached)
}

// climb runs the ladder at this request point. With early set it saves tokens
// even if an epoch is not due yet, or due for the number of messages alone. What
// thinking is bound to changes here, so all bound thinking leaves first.
func (f *folding) climb(early bool) {
	d := f.d
	before, count, edits, moves, slot := d.total, d.count, len(d.journal), len(d.moves), d.slot
	d.excess = 0
	trigger, land := f.start(d.required, d.budget), f.landing(d.required, d.budget)
	triggerCount, landCount := f.trigger(d.permanentCount, f.budget.Messages), f.landing(d.permanentCount, f.budget.Messages)
	d.land, d.landCount = land, landCount
	byMessages := before <= max(trigger, f.next) && !f.forced(f.left())
	if r := f.policy.PerRequest; byMessages && !early && (r == nil || !r.FullLadder) {
		d.land = before // over in messages, not in tokens
	}
	if count <= max(triggerCount, f.nextCount) {
		d.landCount = count
	}
	d.epoch = len(f.epochs) + 1
	d.unbind(math.MaxInt, d.epoch, "bound to what stood before it")
	if f.policy.PerRequest == nil && len(f.policy.Ladder) > 0 {
		d.dropReplaced()
	}
	for i, s := range f.policy.Ladder {
		if d.Over() == 0 && d.OverMessages() == 0 && d.Excess() == 0 {
			break
		}
		d.stage, d.last = i, false
		s.Shrink(d)
	}
	d.shrinkSlot(0)
	d.noteEpoch(slot)
	f.next, f.nextCount, f.mark, f.missed = 0, 0, 0, d.total > f.budget.Placing
	if f.beyond = d.total - d.withoutOld(); d.slot != nil {
		f.beyond -= d.slot.size - d.slot.spans[0].Size
	}
	if d.total > land || f.missed {
		f.next = min(d.budget, d.total+share(leastGain, d.Headroom()))
	}
	if d.count > landCount {
		f.nextCount = min(f.budget.Messages, d.count+max(0, triggerCount-landCount)/4)
		if d.count >= f.budget.Messages { // what must stay is too many: no epoch at every request
			f.nextCount = d.count + share(leastGain, f.budget.Messages)
		}
	}
	if len(d.journal) != edits || d.slot != slot || d.moved(moves) {
		f.epochs = append(f.epochs, Epoch{
			At: d.end, Before: before, After: d.total, Budget: d.budget, Required: d.required, Trigger: trigger, Land: land,
			Recent: d.recent, Excess: d.excess, ByMessages: byMessages,
		})
		return
	}
	d.undo(moves) // what returned and left again did so in no epoch
}

// leastGain is the share of the headroom that must arrive after an epoch that
// could not land, before another starts that the budget does not force.
const leastGain = 0.2

// unbind takes the bound thinking out of the visible messages with an Origin
// below origin.
func (d *Draft) unbind(origin, epoch int, why string) {
	d.bound = slices.DeleteFunc(d.bound, func(i int) bool {
		m := &d.msgs[i]
		if m.Origin >= origin {
			return false
		}
		*m = m.Unbound()
		saved := d.cost[i] - d.whole[i]
		d.cost[i] = d.whole[i]
		if !d.removed(i) {
			d.total -= saved
		}
		d.journal = append(d.journal, Edit{
			Op: OpUnbind, Stage: stageThinking, Why: why, Origin: m.Origin, At: i, Saved: saved, Epoch: epoch,
		})
		return true
	})
}
