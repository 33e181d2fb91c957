package proxy

import (
	"laconic/compact"
	"laconic/proxy/access"
)

// recall reads what is known of the model, for this upstream and credential,
// once per request. Where the path names a deployment it is that which has a
// window and a tokenizer, whatever model the body names beside it.
func (t *trip) recall(model string) {
	key, asked := []string{model}, model
	if name := access.Deployment(t.r.URL.Path); name != "" {
		key, asked = append(key, "deployment", name), name
	}
	counter, counted := t.route.counter()
	t.ways, t.counted = waysOf(counter), counted
	t.lesson = t.p.learned.lesson(t.p.factKey(t.r.Header, t.route, key...), t.route, t.named(model))
	facts, refuses := t.lesson.read(t.p), false
	t.window, refuses = t.p.discovery.window(t.r.Header, t.route, asked, len(t.ways) > 1)
	t.lesson.wasTold(t.window)
	t.facts = t.counting(facts, refuses || facts.refused())
}

// named is the name of the model for people: the body's, the path's, or both.
func (t *trip) named(model string) string {
	switch name := access.Deployment(t.r.URL.Path); name {
	case "", model:
		return model
	default:
		if model == "" {
			return name
		}
		return name + " (" + model + ")"
	}
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
