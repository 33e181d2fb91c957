package proxy

import (
	"net/http"

	"laconic/proxy/learn"
	"laconic/proxy/overflow"
	"laconic/proxy/wire"
)

// note starts the account of a refusal.
func (t *trip) note(reason string) *RetryInfo {
	t.info.Retry = &RetryInfo{Reason: reason, First: t.sending.report.After}
	return t.info.Retry
}

// noteOverflow starts the account of a refusal for length.
func (t *trip) noteOverflow(r overflow.Refusal) *RetryInfo {
	i := t.note(reasonOverflow)
	i.Kind, i.Shape, i.Limit, i.Prompt, i.Output = r.Kind.String(), r.Shape, r.Limit, r.Prompt, r.Output
	return i
}

// refusedLate reports whether an answer that nobody waited for was a refusal,
// and learns from it: the next request fits, or is waited for.
func (t *trip) refusedLate(status int, text []byte) bool {
	if t.sending.percent == 0 || t.info.Retry != nil {
		return false
	}
	begins, data := t.wire.FirstEvent(text, true)
	if begins != overflow.Error {
		return false
	}
	read := t.wire.Refusal(status, data)
	r := read.Size
	if read.Generated || r.Kind == overflow.None {
		return false
	}
	t.noteOverflow(r).Why = "late"
	if !learn.Hopeless(r) {
		t.learnt.RefusedLate(r, t.sentBody())
	}
	return true
}

// afterOverflow learns from a refusal, and folds again under what was learnt.
func (t *trip) afterOverflow(r overflow.Refusal, status int) *again {
	i := t.noteOverflow(r)
	if learn.Hopeless(r) {
		i.Why = "answer" // compaction cannot help against that
		return nil
	}
	trial := t.learnt.Refused(r, t.sentBody())
	if status == http.StatusTooManyRequests {
		i.Why = "status" // the client waits and comes again; then it fits
		return nil
	}
	a := t.plan(trial.Facts)
	if a == nil {
		i.Why = "memory"
		return nil
	}
	if !t.smaller(a, r) || !t.worth(a) {
		i.Why = "over"
		return nil
	}
	a.accepted = func() { t.learnt.Accepted(trial) }
	a.refused = func(second wire.Refusal) {
		t.learnt.RefusedAgain(trial, second.Size, t.learnable(a.sizes, len(a.body)))
	}
	return a
}

// afterTemplate makes the next shape of the plan: without a text in the place
// of what left, then the client's own list, repaired.
func (t *trip) afterTemplate() *again {
	i := t.note(reasonTemplate)
	next := learn.ShapeOriginal
	if t.facts.Shape.Value == learn.ShapeFull && t.sending.slotted {
		next = learn.ShapeNoSlot
	}
	if next == learn.ShapeOriginal && !t.originalFits() {
		i.Why = "over"
		return nil
	}
	a := t.shaped(next, i)
	if a == nil {
		return nil
	}
	if !t.takes(a) {
		i.Why = "over"
		return nil
	}
	a.accepted = func() { t.learnt.SetShape(next) }
	a.refused = func(second wire.Refusal) {
		if !second.Roles {
			return
		}
		if next == learn.ShapeOriginal {
			next = learn.ShapeFull // the client's own list is at fault: no shape of ours cures it
		}
		t.learnt.SetShape(next)
	}
	return a
}

// afterRefusal gives the client's own list, repaired where it needs that, in
// the place of a compacted one, where it fits.
func (t *trip) afterRefusal() *again {
	i := t.note(reasonRefused)
	if !t.originalFits() {
		i.Why = "over"
		return nil
	}
	return t.shaped(learn.ShapeOriginal, i)
}

// shaped plans once more, in another shape; nil where there is no memory for it.
func (t *trip) shaped(s learn.Shape, i *RetryInfo) *again {
	facts := t.facts
	facts.Shape.Value = s
	a := t.plan(facts)
	if a == nil {
		i.Why = "memory"
	}
	return a
}

// originalFits tells whether the upstream takes the client's own list as far
// as its size goes.
func (t *trip) originalFits() bool {
	return t.sending.report.Before <= t.facts.Accepts(t.limits(), t.sending.asked)
}

// takes tells whether the upstream takes a plan, as far as is known: it may be
// above its budget and still have room, where no answer's length was asked for.
func (t *trip) takes(a *again) bool {
	r := &a.info.Report
	return r.After <= t.facts.Accepts(t.limits(), t.sending.asked) && r.MessagesAfter <= t.budget.Messages
}

// worth tells whether a plan is worth to be sent. One that is smaller than what
// was refused, though not small enough by what is known, is what the next turn
// would send too, and counts are no certainty; but not where requests that are
// over are refused, nor where what never leaves is too large alone.
func (t *trip) worth(a *again) bool {
	fixed := a.info.Report.Fixed > t.facts.Accepts(t.limits(), t.sending.asked)
	return t.takes(a) || !t.policy().Reject && !fixed
}

// smaller tells whether a plan is smaller than what was refused, in what it was
// refused for.
func (t *trip) smaller(a *again, of overflow.Refusal) bool {
	r := &a.info.Report
	switch of.Kind {
	case overflow.Count:
		return r.MessagesAfter < t.sending.report.MessagesAfter
	case overflow.Bytes:
		return len(a.body) < t.sending.bytes && (of.Limit == 0 || len(a.body) <= of.Limit)
	}
	return t.by(a.sizes, &t.facts) < t.by(t.sending.sizes, &t.facts) && len(a.body) != t.sending.bytes
}
