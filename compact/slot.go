package compact

import (
	"slices"
	"strings"
)

// FoldVersion is the version of the fold: which messages leave for a slot, what its
// text stands for, and the frame of that text. A release in which any of these
// differs for the same conversation, policy and budget raises it. It belongs in the
// key of a text that is kept for longer than a process runs, because a text that was
// written for another fold must not be found.
const FoldVersion = "1"

// A Digester is a stage that can describe messages in a text. lost are the
// messages that left or were shortened, as they came; kept are those that the
// model still reads. The text must be a function of the arguments and cost at
// most size tokens.
type Digester interface {
	Stage
	Digest(lost, kept []Message, size int, c Counter) string
}

// slotDraft is the slot of a draft. Its text is not made yet, because only the
// slot that is left at the end needs one. A slotDraft is replaced, never
// changed.
type slotDraft struct {
	to      int // end of the run that left for it
	size    int
	end     int // messages before it were visible when the slot was made
	by      Digester
	earlier []int  // ends of the runs of earlier slots
	label   string // see Slot.Label
	all     bool   // the slot is for everything that left, not for the gap
	own     bool   // the slot is a message of its own
}

// slotSource is what the texts of a slot are made from.
type slotSource struct {
	draft     *Draft
	originals []Message
}

const (
	// leastSlot is the size, in tokens, below which a slot says nothing.
	leastSlot = 48
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
		d.total += s.size
		if s.own = d.placement == PlaceSystem || d.firstUser < 0; s.own {
			d.count++
		}
	}
}

// Summarize replaces the exchanges of the gap by a slot of at most size tokens,
// if that saves, and reports whether it did. The slot is for exactly the gap
// that was known at the warm mark, so that its text can be prepared. An earlier
// slot is absorbed.
func (d *Draft) Summarize(by Digester, size int, why string) bool {
	// Recent messages come before a record of old ones. Only where they fill
	// the budget, results among them are cut for a small record.
	size = min(size, max(d.budget-d.withoutOld(), d.Headroom()/slotShare))
	g := &d.gap
	if g.open && g.warmTo <= g.to && d.slot != nil || size < leastSlot || d.placement == PlaceNone {
		return false
	}
	before, start := d.total, d.checkpoint()
	for !g.open || g.to < g.warmTo {
		if !d.widen(g.warmTo, d.reason(why)) {
			break
		}
	}
	if !g.open || g.to == g.from {
		return false
	}
	s := &slotDraft{to: g.to, end: d.end, by: by}
	free := before - d.total
	if d.slot != nil {
		free += d.slot.size
		s.earlier = append(slices.Clip(d.slot.earlier), d.slot.to)
	}
	// A slot takes at most three quarters of what left for it.
	if s.size = min(size, free*3/4); s.size < leastSlot {
		d.rollback(start)
		return false
	}
	d.setSlot(s)
	d.drops(1, before-d.total)
	return true
}

// FillSlot makes a slot of size tokens for everything that left so far, for
// policies that use [Draft.Drop]. label is the [Slot.Label]. What left before
// the last exchanges that did is most likely what the slot of an earlier
// request stood for, so their ends are recorded as Earlier.
func (d *Draft) FillSlot(by Digester, size int, label string) {
	if d.placement == PlaceNone {
		return
	}
	var ends []int // of the exchanges that left, newest first
	for i := d.end; i > 0 && len(ends) <= mostEarlier; i-- {
		if d.removed(i-1) && (i == d.end || int(d.exchanges.start[i]) == i) {
			ends = append(ends, i)
		}
	}
	slices.Reverse(ends)
	d.setSlot(&slotDraft{to: d.end, size: size, end: d.end, by: by, all: true, label: label, earlier: ends[:max(0, len(ends)-1)]})
}

// shrinkSlot shrinks the slot to no less than least tokens, or removes it if it
// would say nothing, as far as that helps a draft above its budget to fit.
func (d *Draft) shrinkSlot(least int) {
	over := d.Excess()
	if over == 0 || d.slot == nil {
		return
	}
	size := max(d.slot.size-over, least)
	switch {
	case size >= d.slot.size, least == 0 && over > d.slot.size: // nothing won
	case size < leastSlot:
		d.setSlot(nil)
	default:
		slot := *d.slot // its message stays its own, or not
		slot.size = size
		d.total -= d.slot.size - size
		d.slot = &slot
	}
}

// newSlot returns the draft's slot for a plan. originals is the repaired list.
func (d *Draft) newSlot(originals []Message) *Slot {
	from := d.slot
	s := &Slot{
		From: d.gap.from, To: from.to, End: from.end, At: d.gap.host, Size: from.size, Earlier: from.earlier, Label: from.label,
		Sources: sources(originals[:from.end]), source: &slotSource{d, originals},
	}
	if s.At < 0 && d.firstUser >= 0 && (d.firstUser < from.end || d.opens(d.firstUser, s.From)) {
		s.At = d.firstUser // it came after the gap was opened
	}
	s.Before = s.From
	if d.placement == PlaceSystem {
		s.At, s.Role = -1, System
		for s.Before = 0; s.Before < len(originals) && originals[s.Before].Role.Instruction(); s.Before++ {
		}
	}
	if s.At < 0 {
		// The slot pays for the envelope of its message.
		s.Size = max(0, s.Size-s.envelope(d.counter))
	}
	return s
}

// opens reports whether only instructions are left of [from, i), so that the
// slot's own message would come directly before message i.
func (d *Draft) opens(i, from int) bool {
	for k := from; k < i; k++ {
		if !d.removed(k) && !d.msgs[k].Role.Instruction() {
			return false
		}
	}
	return true
}

// Digest returns the text of the slot that is made without a model. It is made
// at the first call and kept in Text. Digest is not safe for concurrent use.
func (s *Slot) Digest() string {
	if s.source == nil || s.digested {
		return s.Text
	}
	s.digested = true
	d := s.source.draft
	// Only what came before the epoch counts: a later request must make the
	// same text.
	var lost, kept []Message
	for i, original := range s.source.originals[:s.End] {
		if d.removed(i) || d.cost[i] < d.whole[i] {
			lost = append(lost, original)
		}
		if !d.removed(i) {
			kept = append(kept, d.msgs[i])
		}
	}
	s.Text = d.slot.by.Digest(lost, kept, s.Size, d.counter)
	return s.Text
}

// Spans returns the messages that the slot stands for, as they came: one run
// for each epoch, oldest first, so that all but the last are what the slot
// before this one stood for. Instructions and pins stay, and are not included.
// Spans returns nil for a slot that was not made by [Compact].
func (s *Slot) Spans() (runs [][]Message) {
	if s.source == nil {
		return nil
	}
	d, originals, from := s.source.draft, s.source.originals, s.From
	for _, to := range append(slices.Clip(s.Earlier), s.To) {
		var run []Message
		for i := from; i < min(to, len(originals)); i++ {
			if d.slot.all && !d.removed(i) || d.msgs[i].Role.Instruction() || d.pinned[i] {
				continue
			}
			run = append(run, originals[i])
		}
		runs, from = append(runs, run), max(from, to)
	}
	return runs
}

// charge returns what the slot adds to a request, in tokens of c beside its
// Size; 0 for no slot.
func (s *Slot) charge(c Counter) int {
	switch {
	case s == nil:
		return 0
	case s.At >= 0:
		return s.Size
	}
	return s.Size + s.envelope(c)
}

// envelope returns what a message of the slot's own costs without its text.
func (s *Slot) envelope(c Counter) int {
	return c.Envelope(&Message{Role: s.role(), Shape: String, Origin: Added})
}

// role returns the role of a message of the slot's own.
func (s *Slot) role() Role {
	if s.Role == 0 {
		return User
	}
	return s.Role
}

// withSlot returns msgs with the text of the slot. at maps indices of the
// repaired list to msgs, which is what is left of it.
func withSlot(msgs []Message, s *Slot, text string, at func(int) int) []Message {
	if s == nil || text == "" {
		return msgs
	}
	if s.At < 0 {
		text = strings.TrimLeft(text, "\n")
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

// sources returns how many messages of the client's list msgs come from.
func sources(msgs []Message) (n int) {
	for i := range msgs {
		n = max(n, msgs[i].Origin+1)
	}
	return n
}
