package compact

import (
	"slices"
	"strings"
)

// Digest is the text that the slot gets without a model. It is made when it is
// asked for first: a summary, or a text that was made a turn ago, may stand in
// its place. Not safe for concurrent use.
func (s *Slot) Digest() string {
	if s.digest != nil {
		s.Text, s.digest = s.digest(), nil
	}
	return s.Text
}

// Digester is a stage that can say in a text what messages held: lost are the
// messages that left or were shortened, as they came, kept are those that the
// model still reads. The text is a function of its arguments and costs at most
// size tokens.
type Digester interface {
	Stage
	Digest(lost, kept []Message, size int, c Counter) string
}

// slotDraft is the slot of a draft, its text not made yet: only the slot that
// is left at the end needs one.
type slotDraft struct {
	to, size int
	end      int // messages before it were visible when the slot was made
	by       Digester
	earlier  []int // where the gaps ended that earlier slots stood for
	filled   bool  // it stands for whatever left, not for the gap
	label    string
	own      bool // it takes a message of its own
}

// put makes s the slot, in the place of the one that was there; nil takes that
// away.
func (d *Draft) put(s *slotDraft) {
	if d.slot != nil && d.slot.own {
		d.count--
	}
	if d.slot = s; s != nil {
		s.own = d.placement == PlaceSystem || d.first < 0
		if s.own {
			d.count++
		}
	}
}

// Summarize replaces the exchanges of the gap by a slot of at most size
// tokens, if that saves, and tells whether it did. The gap is the one that was
// known at the warm mark, so that a text could be prepared before it is
// needed: either exactly that gap, or none. A slot that is there already is
// absorbed.
func (d *Draft) Summarize(by Digester, size int, why string) bool {
	// Recent messages come before a record of old ones; but where they fill
	// the budget, results among them are cut for a small one.
	size = min(size, max(d.budget-d.least(), d.Room()/slotYield))
	if d.gap.open && d.warmTo <= d.gap.to && d.slot != nil || size < leastSlot || d.placement == PlaceNone {
		return false
	}
	before := d.total
	undo := d.undo()
	for !d.gap.open || d.gap.to < d.warmTo {
		if !d.grow(d.warmTo, d.reason(why)) {
			break
		}
	}
	if !d.gap.open || d.gap.to == d.gap.from {
		return false
	}
	was := 0
	var earlier []int
	if d.slot != nil {
		was = d.slot.size
		if !d.slot.filled {
			earlier = append(slices.Clip(d.slot.earlier), d.slot.to)
		}
	}
	// A slot takes at most three quarters of what left for it.
	size = min(size, (before-d.total+was)*3/4)
	if size < leastSlot {
		undo()
		return false
	}
	d.total += size - was
	d.put(&slotDraft{to: d.gap.to, size: size, end: d.end, by: by, earlier: earlier})
	d.saved[d.stage] += before - d.total
	d.growth[d.stage]++
	return true
}

// yieldSlot makes the slot smaller, down to least tokens, or takes a useless one
// away, as far as the request is above its budget.
func (d *Draft) yieldSlot(least int) {
	over := d.Excess()
	if over == 0 || d.slot == nil {
		return
	}
	size := max(d.slot.size-over, least)
	switch {
	case size >= d.slot.size, least == 0 && over > d.slot.size: // nothing won
	case size < leastSlot:
		d.total -= d.slot.size
		d.put(nil)
	default:
		slot := *d.slot
		d.total -= slot.size - size
		slot.size = size
		d.slot = &slot
	}
}

// slotYield is the part of the room, one in so many, that the slot keeps when
// recent results have to be cut, slotYieldMost the one when more than half of the
// newest would go.
const (
	slotYield     = 4
	slotYieldMost = 8
)

// leastSlot is the size, in tokens, below which a slot says nothing.
const leastSlot = 48

// least is the cost that nothing short of the last resort gets below: what
// must stay, the newest user message and what is recent.
func (d *Draft) least() int {
	n := d.must
	for i := d.recent; i < d.end; i++ {
		if m := &d.msgs[i]; !m.Role.Head() && !d.pinned[i] && i != d.first {
			n += d.cost[i]
		}
	}
	if d.newest >= 0 && d.newest < d.recent && d.newest != d.first && !d.pinned[d.newest] {
		n += d.cost[d.newest]
	}
	return n
}

// undo starts to note what leaves, and gives what brings it back.
func (d *Draft) undo() func() {
	gap, total, count, trail := d.gap, d.total, d.count, len(d.trail)
	return func() {
		for _, t := range slices.Backward(d.trail[trail:]) {
			d.removedBy[t.at] = t.was
		}
		d.gap, d.total, d.count, d.trail = gap, total, count, d.trail[:trail]
	}
}

// moved tells whether other messages are away than at the start of the epoch.
func (d *Draft) moved() bool {
	was := make(map[int]bool, len(d.trail))
	for _, t := range slices.Backward(d.trail) {
		was[t.at] = t.was != 0
	}
	for i, away := range was {
		if away != d.removed(i) {
			return true
		}
	}
	return false
}

// removal notes one change of what has left.
type removal struct {
	at  int
	was int32
}

// fill puts the slot into the plan, with its digest.
func (d *Draft) fill(plan *Plan, originals []Message) {
	if d.slot == nil {
		return
	}
	s := Slot{From: d.gap.from, To: d.slot.to, End: d.slot.end, At: d.gap.host, Size: d.slot.size, Earlier: d.slot.earlier, Label: d.slot.label}
	if s.At < 0 && d.first >= 0 && (d.first < d.slot.end || d.opens(d.first, s.From)) {
		s.At = d.first // it came after the gap was opened
	}
	s.Before = s.From
	if d.placement == PlaceSystem {
		s.At, s.Role = -1, System
		for s.Before = 0; s.Before < len(originals) && originals[s.Before].Role.Head(); s.Before++ {
		}
	}
	if s.At < 0 {
		// What stands around a message of its own is paid for by the slot.
		own := Message{Role: s.role(), Shape: String, Origin: Added}
		s.Size = max(0, s.Size-d.counter.Envelope(&own))
	}
	s.Sources = sources(originals[:d.slot.end])
	by, end, size, c := d.slot.by, s.End, s.Size, d.counter
	s.digest = func() string {
		lost, kept := d.split(originals, end)
		return by.Digest(lost, kept, size, c)
	}
	s.spans = d.spans(&s, originals)
	plan.Slot = &s
}

// split gives what left of the first end messages or was shortened, as it came,
// and what is still there. Only what stood before the epoch counts: a later
// turn must make the same text.
func (d *Draft) split(originals []Message, end int) (lost, kept []Message) {
	for i := range end {
		if d.removed(i) || d.cost[i] < d.whole[i] {
			lost = append(lost, originals[i])
		}
		if !d.removed(i) {
			kept = append(kept, d.msgs[i])
		}
	}
	return lost, kept
}

// opens tells whether nothing but instructions is left of [from, i), so that a
// slot's own message would stand directly before message i.
func (d *Draft) opens(i, from int) bool {
	for k := from; k < i; k++ {
		if !d.removed(k) && !d.msgs[k].Role.Head() {
			return false
		}
	}
	return true
}

// role is the role of a message that is the slot's own.
func (s *Slot) role() Role {
	if s.Role == 0 {
		return User
	}
	return s.Role
}

// withSlot writes a text into the place of the slot. msgs is the surviving
// list, at tells where a message of the repaired list stands in it.
func withSlot(msgs []Message, s *Slot, text string, at func(int) int) []Message {
	if s == nil || text == "" {
		return msgs
	}
	if s.At < 0 {
		text = strings.TrimLeft(text, "\n") // nothing stands before it
	}
	part := Part{Kind: KindText, Text: Plain(text)}
	if s.At < 0 {
		return slices.Insert(slices.Clone(msgs), at(s.Before), Message{
			Role: s.role(), Shape: String, Parts: []Part{part}, Origin: Added, Edited: true,
		})
	}
	msgs = slices.Clone(msgs)
	m := &msgs[at(s.At)]
	m.Parts = append(slices.Clip(m.Parts), part)
	m.Edited = true
	if m.Shape != Array {
		m.Shape = String
	}
	return msgs
}

// sources is how many messages of the client's list a part of the repaired one
// comes from.
func sources(msgs []Message) (n int) {
	for i := range msgs {
		n = max(n, msgs[i].Origin+1)
	}
	return n
}
