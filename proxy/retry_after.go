package proxy

import (
	"net/http"
	"time"

	"laconic/proxy/overflow"
)

// note starts the account of a refusal.
func (t *trip) note(reason string) *RetryInfo {
	t.info.Retry = &RetryInfo{Reason: reason, First: t.sending.report.After}
	return t.info.Retry
}

// afterOverflow learns from a refusal, and folds again under what was learnt.
func (t *trip) afterOverflow(r overflow.Refusal, status int) *again {
	i := t.note(reasonOverflow)
	i.Kind, i.Shape, i.Limit, i.Prompt, i.Output = r.Kind.String(), r.Shape, r.Limit, r.Prompt, r.Output
	if hopeless(r) {
		i.Why = "answer" // compaction cannot help against that
		return nil
	}
	t.learn(r, t.sized())
	if status == http.StatusTooManyRequests {
		i.Why = "status" // the client waits and comes again; then it fits
		return nil
	}
	a := t.plan(t.lesson.read(t.p))
	if a == nil {
		i.Why = "memory"
		return nil
	}
	if !t.takes(a) || !t.smaller(a, r) {
		i.Why = "over"
		return nil
	}
	a.refused = func(text []byte, status int) {
		if r := overflow.Read(status, text); r.Kind != overflow.None && !hopeless(r) {
			percent := t.facts.percent()
			t.learn(r, sized{estimate: a.info.Report.After * 100 / percent, bytes: len(a.body), asked: t.sending.asked})
		}
	}
	return a
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
	a.refused = func(text []byte, status int) {
		if !templateRefused(status, text) {
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
	return r.After*100/t.facts.percent() < t.estimate()
}

// learn writes what a refusal tells into the facts of this model, upstream and
// credential.
func (t *trip) learn(r overflow.Refusal, s sized) {
	t.lesson.change(t.p, func(now time.Time, l *Learnt) {
		if counted := l.learn(now, r, s); counted > 0 && !t.ownCounter() {
			t.lesson.counted(t.p, now, l, func(c Calibration) { c.Refused(s.estimate, counted) })
		}
		if r.Kind == overflow.Count || r.Kind == overflow.Bytes {
			return
		}
		// A number that does not explain the refusal is wrong, or the counter
		// is. Then a shorter prompt is tried.
		if l.budget(t.limits(), s.asked).Tokens*100/t.percentOf(l) >= s.estimate {
			l.cap(now, int(tooLongBy*float64(s.estimate)))
		}
	})
}

// sized is what is known of the body that was sent.
func (t *trip) sized() sized {
	return sized{estimate: t.estimate(), bytes: t.sending.bytes, asked: t.sending.asked}
}

// estimate is what was sent by the counter alone, before its correction.
func (t *trip) estimate() int { return t.sending.report.After * 100 / t.sending.percent }
