package proxy

import (
	"maps"
	"net/http"
	"strings"

	"laconic/compact"
	"laconic/compact/handover"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/discover"
	"laconic/proxy/learn"
	"laconic/proxy/plan"
	"laconic/proxy/summarize"
	"laconic/proxy/wire"
)

// planning is a request whose body was read: all that its plans depend on, but
// for the body itself. It is set once.
type planning struct {
	*plan.Terms
	x      *request
	seals  bool      // the answer to an agent's request is an item that stands for its history
	name   string    // under which the upstream may publish a window
	sender learn.Key // names the client's credential; zero: it sent none
	// slot asks for the texts of the slot of the newest plan.
	slot *summarize.Request
	// info is the part of the account that is the same for all plans. Nothing in it
	// points into the body, which is dropped long before the account is.
	info RewriteInfo
}

// planning reads what is known of the model, for this upstream and credential. A
// deployment in the path has the window and the tokenizer, whatever model the body
// names.
func (x *request) planning(req *wire.Request) *planning {
	p, route := x.p, x.route
	key, asked, name := []string{req.Model}, req.Model, req.Model
	if deployment := access.Deployment(x.r.URL.Path); deployment != "" {
		key, asked, name = append(key, "deployment", deployment), deployment, deployment
		if req.Model != "" && req.Model != deployment {
			name += " (" + req.Model + ")"
		}
	}
	name = strings.Clone(apierror.Clip(name, 128))
	c := &planning{x: x, seals: req.Trigger, name: strings.Clone(asked)}
	if all := access.Credentials(x.r.Header); len(all) > 0 {
		c.sender = p.learnt.Key(append([]string{"sender"}, all...)...)
	}
	c.Terms = &plan.Terms{
		Policy: x.policy(req), Limits: route.Limits, Stated: route.Configured, Counter: route.Counter, Chosen: route.Tokenizer != "",
		Agent:  handover.Of(req.Conversation.Messages, req.NoCalls, req.Compaction),
		Learnt: p.learnt, SetRecords: c.setRecords,
		Left: func() bool { return x.r.Context().Err() != nil },
	}
	switch route.SystemMessages {
	case SystemFold:
		c.Always = compact.OneSystem
	case SystemKeep:
		c.Never = compact.OneSystem | compact.NoSystem
	}
	c.Known = p.learnt.Model(p.factKey(x.r.Header, route, req.Wire, key...), route.Upstream, name, c.sender)
	c.Counts = c.Known
	if names := req.ToolNames(); names != "" {
		c.Counts = p.learnt.Model(p.factKey(x.r.Header, route, req.Wire, append(key, "tools", names)...), route.Upstream, name, c.sender)
	}
	_, guesses := plan.WaysOf(route.Counter, c.Chosen)
	published, refuses := p.published(x.settings, x.r.Header, route, asked, guesses > 1)
	c.For(req, published, refuses, x.overrides.budget)
	c.info = RewriteInfo{
		Model: name, Policy: c.Policy.Name, Kind: c.Agent.Kind(),
		PinsUnmatched: x.overrides.unmatched, Stream: req.Stream, Published: published, BytesBefore: len(req.Body), BytesAfter: len(req.Body),
	}
	return c
}

// factKey returns the key of a request's facts: upstreams count and refuse by the API
// that they are asked in. The model is a list of names.
func (p *Proxy) factKey(h http.Header, route *Route, wire string, model ...string) learn.Key {
	list := append([]string{route.Upstream.String(), wire, "model"}, model...)
	if route.Tokenizer != "" {
		list = append(list, "tokenizer", route.Tokenizer)
	}
	return p.learnt.Key(append(list, access.Credentials(h)...)...)
}

// askAgain has the upstream asked again for the window of the model, where the answer
// shows that it may tell another: a model that it has loaded by now, or one whose
// window the answer contradicts. It returns the default window of an upstream that
// has none to tell; 0 where that is not known.
func (c *planning) askAgain(contradicted bool) (unset int) {
	if !c.asks() {
		return 0
	}
	return c.x.p.asker.Again(c.x.settings.asking(c.x.r.Header, c.x.route), c.name, contradicted)
}

// asks reports whether the upstream is asked for windows.
func (c *planning) asks() bool {
	route := c.x.route
	return !route.Configured && route.Discover && !discover.Silent(route.Upstream)
}

// setRecords sets how the records of a plan are made.
func (c *planning) setRecords(p *plan.Plan, policy *compact.Policy) {
	s := c.x.p.summaries
	c.slot = c.summaryRequest(p)
	policy.Summaries, policy.Records = s.Asks(), s.Records(c.slot)
}

// summaryRequest describes a plan to the summarizer.
func (c *planning) summaryRequest(p *plan.Plan) *summarize.Request {
	x := c.x
	r := &summarize.Request{
		ID: x.info.ID, Header: x.r.Header, Owner: x.settings.keys.Owner(x.r.Header), Query: x.r.URL.RawQuery, Upstream: x.route.Upstream,
		Policy: c.Policy.Name, Version: c.Policy.Version, Counter: p.SlotCounter(),
		Counting: x.route.Match + "\x00" + c.info.Model + "\x00" + x.route.Tokenizer + p.Counting(), Bound: p.Bound,
	}
	s := x.settings.Summarizer
	if s == nil {
		return r
	}
	chosen, unfolded := x.overrides.budget > 0 || x.overrides.policy != nil, c.Policy.PerRequest != nil
	if r.Wait = s.Wait; unfolded {
		r.Wait = s.WaitUnfolded
	}
	switch {
	case x.r.Header.Get(summarize.Header) != "":
		r.Unwanted = "looped"
	case chosen && !s.ClientCredential:
		// A client that sends headers could make the operator pay for any number.
		r.Unwanted = "override"
	case x.mode() != ModeOn:
		r.Unwanted = "mode"
	case c.Agent != "":
		r.Unwanted = "compaction" // a new summary would be used once
	case unfolded && r.Wait == 0:
		r.Unwanted = "not_folded" // a summary of this gap would never be used
	}
	if first := x.info.Rewrite; first != nil && first.Summary != nil {
		r.Wait -= first.Summary.Duration // by an earlier plan
	}
	return r
}

// published returns what the upstream of a route publishes of a model's window,
// and reports whether it is known to refuse what is too long. guessed: nobody
// knows the model's tokenizer.
func (p *Proxy) published(s *settings, h http.Header, route *Route, model string, guessed bool) (published compact.Published, refuses bool) {
	if discover.Silent(route.Upstream) {
		return compact.Published{}, true
	}
	if !route.Discover || route.Configured && !guessed {
		return compact.Published{}, false
	}
	published, refuses = p.asker.Window(s.asking(h, route), model)
	if route.Configured {
		published.Window, published.Input = 0, 0
	}
	return published, refuses
}

// asking returns the upstream of a route as it is asked for its windows: with the
// client's credential where that goes to it with its requests, else with the
// operator's key, else with none.
func (s *settings) asking(h http.Header, route *Route) discover.Upstream {
	auth := maps.Clone(h)
	maps.DeleteFunc(auth, func(name string, _ []string) bool { return !access.IsCredential(name) })
	s.setCredential(auth, route, access.Models)
	return discover.Upstream{URL: route.Upstream, Account: string(route.Key), Header: auth}
}
