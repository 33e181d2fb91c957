package proxy

import (
	"context"
	"net/http"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/learn"
)

// published returns what the upstream of a route publishes of a model's window,
// and reports whether it is known to refuse what is too long. guessed: nobody
// knows the model's tokenizer.
func (p *Proxy) published(h http.Header, route *Route, model string, guessed bool) (published compact.Published, refuses bool) {
	if learn.Silent(route.Upstream) {
		return compact.Published{}, true
	}
	if !route.Discover || route.Configured && !guessed {
		return compact.Published{}, false
	}
	published, refuses = p.learnt.Window(p.asking(h, route), model)
	if route.Configured {
		published = compact.Published{}
	}
	return published, refuses
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
func (p *Proxy) Discover(ctx context.Context, route *Route, model string) (published compact.Published, from string) {
	return p.learnt.Discover(ctx, p.asking(http.Header{}, route), model)
}
