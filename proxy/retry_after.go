package proxy

import (
	"net/http"
	"time"

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
	if hopeless(r) {
		return true
	}
	if s := t.sized(); t.learn(r, s).guessed {
		// Without a number nothing is known but this: the next one is waited for.
		t.lesson.change(t.p, func(now time.Time, l *Learnt) {
			s.estimate = t.by(s.sizes, l)
			l.tight(now, s)
		})
	}
	return true
}

// afterOverflow learns from a refusal, and folds again under what was learnt.
func (t *trip) afterOverflow(r overflow.Refusal, status int) *again {
	i := t.noteOverflow(r)
	if hopeless(r) {
		i.Why = "answer" // compaction cannot help against that
		return nil
	}
	x := t.learn(r, t.sized())
	t.hard(r, &x)
	if status == http.StatusTooManyRequests {
		i.Why = "status" // the client waits and comes again; then it fits
		return nil
	}
	a := t.plan(x.trial)
	if a == nil {
		i.Why = "memory"
		return nil
	}
	if !t.smaller(a, r) || !t.worth(a) {
		i.Why = "over"
		return nil
	}
	a.accepted = func() {
		t.lesson.change(t.p, func(now time.Time, l *Learnt) {
			for _, note := range x.passed {
				note(l, now)
			}
		})
	}
	a.refused = func(second wire.Refusal) { t.refusedAgain(r, second.Size, x, a) }
	return a
}

// refusedAgain learns from the refusal of the second send, which is no second
// word on the limit: one that tells another number each time is not followed
// down.
func (t *trip) refusedAgain(first, r overflow.Refusal, x taught, a *again) {
	s := sized{sizes: a.sizes, bytes: len(a.body), asked: t.sending.asked}
	switch {
	case r.Kind == overflow.None, hopeless(r):
	case r.Prompt > 0 && r.Prompt == first.Prompt && !r.AtLeast: // the first answer once more
	case x.limit == 0 && !x.guessed, x.limit == 0 && limitOf(r) > 0:
		t.learn(r, s)
	default:
		t.lesson.change(t.p, func(now time.Time, l *Learnt) {
			if s.estimate = t.by(s.sizes, l); r.Limit == first.Limit {
				t.count(now, l, r, &s)
			}
			if x.guessed {
				l.tight(now, s)
			}
		})
	}
}

// afterTemplate makes the next shape of the plan: without a text in the place
// of what left, then the client's own list, repaired.
func (t *trip) afterTemplate() *again {
	i := t.note(reasonTemplate)
	next := ShapeOriginal
	if t.facts.Shape == ShapeFull && t.sending.slotted {
		next = ShapeNoSlot
	}
	if next == ShapeOriginal && !t.originalFits() {
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
	remember := func(s Shape) {
		t.lesson.change(t.p, func(now time.Time, l *Learnt) { l.Shape, l.ShapeUntil = s, now.Add(shapeLife) })
	}
	a.accepted = func() { remember(next) }
	a.refused = func(second wire.Refusal) {
		if !second.Roles {
			return
		}
		if next == ShapeOriginal {
			next = ShapeFull // the client's own list is at fault: no shape of ours cures it
		}
		remember(next)
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
	return t.shaped(ShapeOriginal, i)
}

// shaped plans once more, in another shape; nil where there is no memory for it.
func (t *trip) shaped(s Shape, i *RetryInfo) *again {
	facts := t.facts
	facts.Shape = s
	a := t.plan(facts)
	if a == nil {
		i.Why = "memory"
	}
	return a
}

// originalFits tells whether the upstream takes the client's own list as far
// as its size goes.
func (t *trip) originalFits() bool {
	return t.sending.report.Before <= t.facts.accepts(t.limits(), t.sending.asked)
}

// takes tells whether the upstream takes a plan, as far as is known: it may be
// above its budget and still have room, where no answer's length was asked for.
func (t *trip) takes(a *again) bool {
	r := &a.info.Report
	return r.After <= t.facts.accepts(t.limits(), t.sending.asked) && r.MessagesAfter <= t.budget.Messages
}

// worth tells whether a plan is worth to be sent. One that is smaller than what
// was refused, though not small enough by what is known, is what the next turn
// would send too, and counts are no certainty; but not where requests that are
// over are refused, nor where what never leaves is too large alone.
func (t *trip) worth(a *again) bool {
	fixed := a.info.Report.Fixed > t.facts.accepts(t.limits(), t.sending.asked)
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

// learn writes what a refusal tells into the facts of this model, upstream and
// credential, and says what to try.
func (t *trip) learn(r overflow.Refusal, s sized) (x taught) {
	t.lesson.change(t.p, func(now time.Time, l *Learnt) {
		s.estimate = t.by(s.sizes, l)
		t.count(now, l, r, &s)
		x = l.learn(now, r, s)
		if r.Kind != overflow.Prompt && r.Kind != overflow.Output {
			return
		}
		// A number that does not explain the refusal is wrong, or the counter
		// is, by more than a factor corrects. Then a shorter prompt is tried.
		percent := t.percentOf(&x.trial)
		fits := x.trial.budget(t.limits(), s.asked).Tokens*100/percent >= s.estimate
		if fits || counted(r, s)*100 > (percent+percentSlack)*s.estimate {
			x.guess(r, s)
		}
	})
	return x
}

// count corrects the counter by what a refusal counted, and s by the counter.
func (t *trip) count(now time.Time, l *Learnt, r overflow.Refusal, s *sized) {
	n := counted(r, *s)
	if n == 0 || t.ownCounter() || s.sizes.media*mostMedia > s.sizes.all[0] {
		return
	}
	t.corrected(now, l, s.sizes, func(c Calibration) { c.Refused(s.sizes.all, t.facts.percent(), n) })
	s.estimate = t.by(s.sizes, l)
}

// sized is what is known of the body that was sent.
func (t *trip) sized() sized {
	return sized{sizes: t.sending.sizes, bytes: t.sending.bytes, asked: t.sending.asked}
}

// expected is what was sent as it was counted, with the factor.
func (t *trip) expected() int { return t.by(t.sending.sizes, &t.facts) * t.sending.percent / 100 }
