package compact

import "slices"

// slotDraft is the slot of a draft. It is replaced, never changed.
type slotDraft struct {
	spans   []Span
	size    int  // of all spans, and one token where two meet
	most    int  // what size may grow to
	resized bool // it is made anew because its room shrank or grew
	by      Digester
	label   string // see Slot.Label
	all     bool   // the slot is for everything that left, not for the gap
	own     bool   // the slot is a message of its own
}

// last returns the last span.
func (s *slotDraft) last() *Span { return &s.spans[len(s.spans)-1] }

// ends returns the ends of the runs that the first n spans stand for.
func (s *slotDraft) ends(n int) (ends []int) {
	for i := range s.spans[:n] {
		ends = append(append(ends, s.spans[i].Earlier...), s.spans[i].To)
	}
	return ends
}

// memory is what the record of a slot is told, once its text is needed. An epoch
// copies no message: [Slot.Digest] makes them once more, from what was done.
type memory struct {
	left    []int  // messages that left or were shortened, in the order of the epochs
	noted   []bool // per message: it is in left
	touched []int  // messages that left, came back or were shortened since the last epoch
	told    []told // for each span of the slot
}

// told is what the record is told for one span: of memory.left, and of the messages
// that were still there when so many were visible, edited and moved.
type told struct {
	from, to          int
	end, edits, moves int
}

const (
	// leastSlot is the size, in tokens, below which a part of a slot says
	// nothing.
	leastSlot = 48
	// A record made anew takes at most firstShare of the size of its slot. An
	// addition takes at most addedShare, and one token for addedRatio that left. Below
	// roomy tokens of headroom they are firstShareNarrow and addedRatioNarrow: large
	// parts fill a small slot soon, and a record made anew costs the cached prefix.
	firstShare       = 0.6
	firstShareNarrow = 0.5
	addedShare       = 0.32
	addedRatio       = 3
	addedRatioNarrow = 6
	// Where the messages that stay leave room below the landing, a record made anew
	// takes up to emptyShare. It is made anew where it could be grown times as large by
	// now: little is cached of one that was made beside large results.
	emptyShare = 0.68
	grown      = 1.75
	// An addition for which the slot has less than starved of what is due may pass its size
	// by lastShare: the record is made anew next, and what is newest counts most.
	starved   = 0.6
	lastShare = 0.1
	// However small its share, a record made anew may take leastFirst tokens,
	// and firstOfBudget of the budget: where tools fill most of a window, the
	// record is a small part of what is sent.
	leastFirst    = 192
	firstOfBudget = 0.07
	// Below roomy tokens of headroom a part is small, and has no room for what was
	// shortened.
	roomy = 8192
	// slotShare is the part of the headroom, one in so many, that the slot
	// keeps if recent results have to be cut, and slotShareLeast if more than
	// half of the newest would go.
	slotShare      = 4
	slotShareLeast = 8
	// mostEarlier is the number of slots of earlier requests that a slot may
	// build on if every request has another.
	mostEarlier = 16
)

// setSlot replaces the slot by s, or removes it if s is nil.
func (d *Draft) setSlot(s *slotDraft) {
	if d.slot != nil {
		d.total -= d.slot.size
		if d.slot.own {
			d.count--
		}
	}
	if d.slot = s; s != nil {
		d.slotStage = d.stage
		d.total += s.size
		if s.own = d.in.policy.Placement == PlaceSystem || !d.hasTask(); s.own {
			d.count++
		}
	}
}

// Summarize replaces the exchanges of the gap by a slot of at most size tokens,
// if that saves. What left since the last slot gets a part of its own, and the parts
// before stay; if there is no room for another part, one part is made anew for all.
//
// If summaries may fill the slot, the gap is the one that was known at the warm
// mark, so that they can be prepared.
func (d *Draft) Summarize(by Digester, size int, why string) {
	// Recent messages come before a record of old ones. Only where they fill
	// the budget, results among them are cut for a small record. They leave soon, so
	// they do not bound what the slot may grow to.
	now := min(size, max(d.budget-d.withoutOld(), d.Headroom()/slotShare))
	g := &d.gap
	if g.open && g.warmTo <= g.to && d.slot != nil || now < leastSlot || d.in.policy.Placement == PlaceNone {
		return
	}
	before, count, moves, was := d.total, d.count, len(d.moves), *g
	for !g.open || g.to < g.warmTo {
		if !d.widen(g.warmTo, d.reason(why)) {
			break
		}
	}
	if !g.open || g.to == g.from {
		return
	}
	s := d.nextSlot(size, now, before-d.total)
	if s.last().Size < leastSlot {
		d.undo(moves)
		d.total, d.count, *g = before, count, was
		return
	}
	s.by = by
	d.setSlot(s)
}

// nextSlot returns the slot that follows the draft's, now that the gap has grown and
// free tokens left for it. It takes now tokens at most, and may grow to size, which its
// last part may pass by lastShare. A part takes at most three quarters of what left for
// it. If that was shortened before, it takes one token for addedRatio that were there, as
// far as there is room below the landing.
func (d *Draft) nextSlot(size, now, free int) *slotDraft {
	from := max(d.gap.from, d.gap.replaced)
	next := Span{From: from, To: d.gap.to, End: d.end}
	was := d.slot
	room := d.land - d.total
	narrow, ratio, ofSlot := d.Headroom() < roomy, addedRatio, firstShare
	if narrow {
		ratio, ofSlot = addedRatioNarrow, firstShareNarrow
	}
	whole := func() (n int) { // what was shortened before, in tokens of the part
		if narrow {
			return 0 // every message counts
		}
		enough := addedRatio * max(room, size) // more is not asked for
		if was != nil {
			enough = max(enough, addedRatio*was.most)
		}
		for i := next.From; i < next.To && n < enough; i++ {
			if d.removed(i) {
				n += d.whole[i]
			}
		}
		return n / addedRatio
	}
	resized := false
	if was != nil {
		// Whether there is room is known as soon as the slot is made, unless it was resized.
		most := was.most
		left := min(most, now) - was.size - 1
		grew := !narrow && !was.resized && min(share(ofSlot, size), now) > share(grown, was.size)
		resized = grew || left < leastSlot && most-was.size-1 >= leastSlot
		if next.From = was.last().To; left >= leastSlot && !grew {
			part := whole()
			due := min(share(addedShare, most), max(free/ratio, part))
			if left < share(starved, due) {
				left = max(left, min(due, left+share(lastShare, most), d.budget-d.withoutOld()-was.size-1))
			}
			next.Size = min(max(due, leastSlot), max(free*3/4, min(room, part)), left)
			return &slotDraft{spans: append(slices.Clip(was.spans), next), size: was.size + 1 + next.Size, most: most}
		}
		next.From = from
		next.Earlier = was.ends(len(was.spans))
		free += was.size
		room += was.size
	}
	first := min(share(ofSlot, size), max(d.budget-d.withoutOld(), share(ofSlot, now)))
	if !narrow {
		first = max(first, min(share(emptyShare, now), room))
	}
	first = max(first, min(now, max(leastFirst, share(firstOfBudget, d.budget))))
	next.Size = min(first, max(free*3/4, min(room, whole())))
	return &slotDraft{spans: []Span{next}, size: next.Size, most: size, resized: resized}
}

// FillSlot makes a slot of size tokens for everything that left so far, for
// policies that use [Draft.Drop]. label is the [Slot.Label]. What left before
// the last exchanges that did is most likely what the slot of an earlier
// request stood for, so their ends are in Earlier.
func (d *Draft) FillSlot(by Digester, size int, label string) {
	if d.in.policy.Placement == PlaceNone {
		return
	}
	var ends []int // of the exchanges that left, newest first
	for i := d.end; i > 0 && len(ends) <= mostEarlier; i-- {
		if d.removed(i-1) && (i == d.end || int(d.exchanges.start[i]) == i) {
			ends = append(ends, i)
		}
	}
	slices.Reverse(ends)
	span := Span{From: max(d.gap.from, 0), To: d.end, End: d.end, Size: size, Earlier: ends[:max(0, len(ends)-1)]}
	d.setSlot(&slotDraft{spans: []Span{span}, size: size, most: size, by: by, all: true, label: label})
}

// noteEpoch notes what the record will be told for the span that this epoch made,
// if it made one. was is the slot before it.
func (d *Draft) noteEpoch(was *slotDraft) {
	s := d.slot
	if s == nil || s == was {
		return
	}
	from := len(d.left)
	slices.Sort(d.touched)
	for _, i := range slices.Compact(d.touched) {
		if !d.noted[i] && (d.removed(i) || d.cost[i] < d.whole[i]) {
			d.noted[i] = true
			d.left = append(d.left, i)
		}
	}
	d.touched = d.touched[:0]
	if len(s.spans) == 1 { // made anew, for all that left
		d.told, from = nil, 0
	}
	d.told = append(d.told, told{from, len(d.left), d.end, len(d.journal), len(d.moves)})
}

// shrinkSlot shrinks the slot to no less than least tokens, or removes it if it
// would say nothing, as far as that helps a draft above its budget to fit. A slot
// that shrinks is made anew.
func (d *Draft) shrinkSlot(least int) {
	over := d.Excess()
	if over == 0 || d.slot == nil {
		return
	}
	s := d.slot
	size := max(s.size-over, least)
	switch {
	case size >= s.size, least == 0 && over > s.size: // nothing won
	case size < leastSlot:
		d.setSlot(nil)
	default:
		last := *s.last()
		if before := len(s.spans) - 1; before > 0 {
			last.From, last.Earlier = s.spans[0].From, s.ends(before)
		}
		last.Size = size
		next := *s // its message stays its own, or not
		next.spans, next.size = []Span{last}, size
		d.total -= s.size - size
		d.slot = &next
	}
}

// newSlot returns the draft's slot for a plan.
func (d *Draft) newSlot() *Slot {
	from, originals := d.slot, d.in.msgs
	s := &Slot{
		From: from.spans[0].From, To: from.last().To, End: from.last().End, At: d.gap.host, Size: from.size, Label: from.label,
		Stage: d.stageNames[d.slotStage],
		Spans: slices.Clone(from.spans), draft: d,
	}
	if s.At < 0 && d.hasTask() && (d.task.last < s.End || d.opens(d.task.first, d.gap.from)) {
		s.At = d.task.last // it came after the gap was opened
	}
	s.Before = d.gap.from
	if d.in.policy.Placement == PlaceSystem {
		s.At, s.Role = -1, System
		for s.Before = 0; s.Before < len(originals) && originals[s.Before].Role.Instruction(); s.Before++ {
		}
	}
	if s.At < 0 {
		// The slot, and its first span, pay for the envelope of its message.
		envelope := d.in.counter.Envelope(&Message{Role: s.role(), Shape: String, Origin: Added})
		s.Size = max(0, s.Size-envelope)
		s.Spans[0].Size = max(0, s.Spans[0].Size-envelope)
	}
	return s
}

// opens reports whether only instructions are left of [from, i), so that the
// slot's own message would come directly before message i.
func (d *Draft) opens(i, from int) bool {
	for from < i && (d.removed(from) || d.msgs[from].Role.Instruction()) {
		from++
	}
	return from >= i
}
