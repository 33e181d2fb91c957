package proxy

import (
	"context"
	"net/http"
	"strconv"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// factKey returns the key of a request's facts. The model is a list of names.
func (p *Proxy) factKey(h http.Header, route *Route, model ...string) learn.Key {
	list := append([]string{route.Upstream.String(), "model"}, model...)
	return p.learnt.Key(append(list, access.Credentials(h)...)...)
}

// loadFacts reads what is known of the model, for this upstream and credential,
// once per request. Where the path names a deployment it is that which has a
// window and a tokenizer, whatever model the body names beside it.
func (t *trip) loadFacts(model string) {
	key, asked := []string{model}, model
	if name := access.Deployment(t.r.URL.Path); name != "" {
		key, asked = append(key, "deployment", name), name
	}
	counter, counted := t.route.counter()
	t.ways, t.counted = waysOf(counter), counted
	t.learnt = t.p.learnt.Model(t.p.factKey(t.r.Header, t.route, key...), t.route.Upstream, apierror.Clip(t.named(model), 128))
	facts, refuses := t.learnt.Facts(), false
	t.window, refuses = t.p.published(t.r.Header, t.route, asked, len(t.ways) > 1)
	t.learnt.Published(t.window)
	t.facts = t.counting(facts, refuses || facts.Refuses())
}

// published returns what the upstream of a route publishes of a model's window,
// and reports whether it is known to refuse what is too long. guessed: nobody
// knows the model's tokenizer.
func (p *Proxy) published(h http.Header, route *Route, model string, guessed bool) (told compact.Published, refuses bool) {
	if learn.Silent(route.Upstream) {
		return compact.Published{}, true
	}
	if !route.Discover || route.Configured && !guessed {
		return compact.Published{}, false
	}
	told, refuses = p.learnt.Window(p.asking(h, route), model)
	if route.Configured {
		told = compact.Published{}
	}
	return told, refuses
}

// asking returns the upstream of a route as it is asked for its windows: with the
// client's credential where that goes to it with its requests, else with the
// operator's key, else with none.
func (p *Proxy) asking(h http.Header, route *Route) learn.Upstream {
	auth := http.Header{}
	for name, values := range h {
		if access.IsCredential(name) {
			auth[name] = values
		}
	}
	p.setCredential(auth, route, access.Models)
	return learn.Upstream{URL: route.Upstream, Account: string(route.Key), Header: auth.Clone()}
}

// Discover asks an upstream for the window of a model and waits for it: for the
// command line. from names the page that had it; "" where none did.
func (p *Proxy) Discover(ctx context.Context, route *Route, model string) (told compact.Published, from string) {
	return p.learnt.Discover(ctx, p.asking(http.Header{}, route), model)
}

// named returns the name of the model for people: the body's, the path's, or both.
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

// limits returns the limits of this request, but for what was learnt.
func (t *trip) limits() compact.Limits {
	l := t.route.Limits.With(t.window)
	if t.orders.budget > 0 {
		l.Budget = t.orders.budget
	}
	return l
}

// ownCounter reports whether the policy counts by a counter of its own: it is
// known by its numbers, and nothing corrects them.
func (t *trip) ownCounter() bool { return t.policy().Counter != nil }

// tag tells counts of one factor, and of one limit of bytes, from those of
// another, in the key of a text that was cut to a size; "" for neither.
func (t *trip) tag() (tag string) {
	if way, p := t.facts.Count.Value.Way, t.facts.Percent(); way != "" || p != 100 {
		tag = way + "@" + strconv.Itoa(p)
	}
	if t.weight != nil {
		tag += "/" + strconv.Itoa(t.weight.bytes)
	}
	return tag
}

// learnable returns what is known of a body that was sent.
func (t *trip) learnable(of sizes, bytes int) learn.Sent {
	s := learn.Sent{
		Sizes: of.all, Media: of.media, Way: t.facts.Count.Value.Way, Percent: t.sending.percent, Bytes: bytes, Asked: t.sending.asked,
		Limits: t.limits(), OwnCounter: t.ownCounter(), Bound: t.bound,
	}
	for _, w := range t.ways {
		s.Ways = append(s.Ways, w.Name)
	}
	return s
}

// sentBody returns the same of the body whose answer the client gets.
func (t *trip) sentBody() learn.Sent { return t.learnable(t.sending.sizes, t.sending.bytes) }

// learnFromAnswer learns from an answer. What was counted is the body that was sent.
func (t *trip) learnFromAnswer() {
	u := t.info.Usage
	counted := u != nil && u.Prompt > 0
	if t.learnt == nil || t.sending.percent == 0 || t.w.Status != http.StatusOK || !counted && !t.sending.answered {
		return
	}
	var bill learn.Bill
	if counted {
		bill = learn.Bill{Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached, NoRoom: t.info.Ended == wire.BeforeOutput}
	}
	t.info.Cut = t.learnt.Answered(t.sentBody(), bill)
}
