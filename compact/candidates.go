package compact

import (
	"iter"
	"slices"
)

// candidates are the messages of a draft that stages may still edit.
//
// Invariants: Results, Prose and Arguments yield each message once to each
// stage in the life of a draft, so that all epochs together read the list once
// per stage. What can never be edited again leaves media and large at the next
// look. A candidate is visible, not removed, and neither protected nor, except
// for the last resort, recent.
type candidates struct {
	cursor  []int // per stage: messages before it were yielded already
	media   []int // messages with images, sounds, videos and files that may still become text
	large   []Ref // results that the last resort may still cut
	repeats repeats
}

// add adds message i, which became visible.
func (c *candidates) add(i int, m *Message, pinned bool) {
	if m.media() {
		c.media = append(c.media, i)
	}
	for p := range m.Parts {
		if m.Parts[p].Kind == KindText && m.Role.Result() && !pinned {
			c.large = append(c.large, Ref{i, p})
		}
	}
}

// Results yields the texts of old tool results that may be edited, oldest
// first, until the draft has landed. Each is yielded once to each stage in the life
// of a draft, so a stage must decide by the text alone.
func (d *Draft) Results() iter.Seq2[Ref, Part] {
	return d.texts(func(i int) bool { return d.msgs[i].Role.Result() })
}

// Prose yields the old texts of assistant messages that may be edited, like
// [Draft.Results]. Messages that carry reasoning are not among them, nor is the one
// that the newest message of a user answers, if it is short.
func (d *Draft) Prose() iter.Seq2[Ref, Part] {
	return d.texts(func(i int) bool {
		m := &d.msgs[i]
		return m.Role == Assistant && !m.Sealed(SealText) && !m.Open && (i != d.newestUser-1 || d.cost[i] > d.Headroom()/shortProse)
	})
}

// shortProse is the share of what is free that a short text takes at most: one part of
// so many.
const shortProse = 14

// texts yields the text parts of the old messages whose indices want accepts.
func (d *Draft) texts(want func(i int) bool) iter.Seq2[Ref, Part] {
	return func(yield func(Ref, Part) bool) {
		for i := range d.old() {
			for p := 0; want(i) && p < len(d.msgs[i].Parts); p++ {
				if part := d.msgs[i].Parts[p]; part.Kind == KindText && (d.Over() == 0 || !yield(Ref{i, p}, part)) {
					return
				}
			}
		}
	}
}

// old yields the old messages that the stage at work has not seen.
func (d *Draft) old() iter.Seq[int] {
	return func(yield func(int) bool) {
		stop := min(d.recent, d.end)
		for i := d.cursor[d.stage]; i < stop; i++ {
			if d.cursor[d.stage] = i; !d.removed(i) && !d.pinned[i] && !yield(i) {
				return
			}
		}
		d.cursor[d.stage] = max(d.cursor[d.stage], stop)
	}
}

// Arguments yields the old calls whose arguments may be edited, like
// [Draft.Results]. Calls with a signature, and calls of messages with one, are
// not among them.
func (d *Draft) Arguments() iter.Seq2[CallRef, Call] {
	return func(yield func(CallRef, Call) bool) {
		for i := range d.old() {
			if m := &d.msgs[i]; m.Role != Assistant || m.Sealed(SealArguments) || m.Open {
				continue
			}
			for c := range d.msgs[i].Calls {
				if call := d.msgs[i].Calls[c]; !call.Sealed && (d.Over() == 0 || !yield(CallRef{i, c}, call)) {
					return
				}
			}
		}
	}
}

// Media returns the old images, sounds, videos and files that may become text,
// oldest first. Those of the task and the newest user message stay.
func (d *Draft) Media() []Ref {
	var old []Ref
	d.media = slices.DeleteFunc(d.media, func(i int) bool {
		m := &d.msgs[i]
		if d.removed(i) || d.keepsMedia(i) || !m.media() {
			return true
		}
		for p := range m.Parts {
			if i < d.recent && i != d.newestUser && m.Parts[p].Kind.Media() {
				old = append(old, Ref{i, p})
			}
		}
		return false
	})
	return old
}

// LastResort begins the last resort of a draft that is above its budget: the
// slot shrinks, and recent tool results and arguments may be edited, too.
// LastResort returns the texts of results that cost more than floor tokens,
// oldest first, or nil if the draft fits. A result at or below the floor is
// never returned again.
func (d *Draft) LastResort(floor int) []Ref {
	if d.Excess() == 0 {
		return nil
	}
	d.last = true
	d.shrinkSlot(d.Headroom() / slotShare)
	if d.Excess() > d.newestResults()/2 {
		d.shrinkSlot(d.Headroom() / slotShareLeast)
	}
	d.large = slices.DeleteFunc(d.large, func(r Ref) bool { return d.removed(r.Message) || d.Cost(r) <= floor })
	return d.large
}

// LastArguments returns the recent calls whose arguments may be edited in the last
// resort, oldest first, or nil if the draft fits.
func (d *Draft) LastArguments() (refs []CallRef) {
	for i := d.recent; i < d.end && d.Excess() > 0; i++ {
		if d.msgs[i].Role == Assistant && d.editable(i, SealArguments) {
			for c := range d.msgs[i].Calls {
				refs = append(refs, CallRef{i, c})
			}
		}
	}
	return refs
}

// editable reports whether a stage may rewrite pieces of message i now.
func (d *Draft) editable(i int, pieces Seal) bool {
	if i < 0 || i >= d.end || i >= d.recent && !(d.last && d.Excess() > 0) {
		return false
	}
	m := &d.msgs[i]
	return (m.Role == Assistant || m.Role.Result()) && !d.removed(i) && !d.pinned[i] && !m.Sealed(pieces) && !m.Open
}

// keepsMedia reports whether the media of message i can never become text.
func (d *Draft) keepsMedia(i int) bool {
	m := &d.msgs[i]
	return d.pinned[i] || d.tells(i) || m.Role.Instruction() || m.Sealed(SealText) || m.Open
}
