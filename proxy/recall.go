package proxy

import "laconic/compact"

// recall reads what is known of the model, for this upstream and credential,
// once per request.
func (t *trip) recall(model string) {
	t.lesson = t.p.learned.lesson(t.p.factKey(t.r.Header, t.route, model), t.route, model)
	t.facts = t.lesson.read(t.p)
	t.window = t.p.discovery.window(t.r.Header, t.route, model)
}

// limits are the limits of this request, but for what was learnt.
func (t *trip) limits() compact.Limits {
	l := t.route.Limits.Told(t.window)
	if t.orders.budget > 0 {
		l.Budget = t.orders.budget
	}
	return l
}

// ownCounter tells whether the policy counts by a counter of its own: it is
// known by its numbers, and nothing corrects them.
func (t *trip) ownCounter() bool { return t.policy().Counter != nil }

// percentOf is the factor that counts of this request have under l.
func (t *trip) percentOf(l *Learnt) int {
	if t.ownCounter() {
		return 100
	}
	return l.percent()
}
