package proxy

import (
	"net/http"
	"strconv"
	"strings"

	"laconic/compact"
	"laconic/compact/handover"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/learn"
	"laconic/proxy/summarize"
	"laconic/proxy/wire"
)

// planning is a request whose body was read: all that its plans depend on, but
// for the body itself. It is set once.
type planning struct {
	x      *request
	mode   string
	policy *compact.Policy // with the client's pins
	limits compact.Limits  // configured or published
	agent  handover.Agent  // asks for a summary of its history, if any does
	seals  bool            // and the answer is an item that stands for it
	asked  int             // tokens of answer that the request asks for; 0: it does not say
	ways   []Way           // in which the upstream may count, one at least
	plain  int             // the first of them, which leave nothing out
	known  *learn.Model
	counts *learn.Model // the counts of requests with the same tools
	begins string       // see beginning; "": it is not known yet
	name   string       // under which the upstream may publish a window
	sender learn.Key    // names the client's credential; zero: it sent none
	// measured: answers have shown how requests with these tools are counted.
	measured bool
	facts    learn.Facts // as they were read
	// counted returns how the texts were counted so far.
	counted func() Counted
	// info is the part of the account that is the same for all plans. Nothing in it
	// points into the body, which is dropped long before the account is.
	info RewriteInfo
}

// planning reads what is known of the model, for this upstream and credential.
// Where the path names a deployment it is that which has a window and a tokenizer,
// whatever model the body names beside it.
func (x *request) planning(in *body.Body, req *wire.Request) *planning {
	p, route := x.p, x.route
	x.overrides.unmatched = unmatched(x.overrides.pins, req.Conversation)
	key, asked, name := []string{req.Model}, req.Model, req.Model
	if deployment := access.Deployment(x.r.URL.Path); deployment != "" {
		key, asked = append(key, "deployment", deployment), deployment
		name = deployment
		if req.Model != "" && req.Model != deployment {
			name += " (" + req.Model + ")"
		}
	}
	name = strings.Clone(apierror.Clip(name, 128))
	counter, counted := route.counter()
	c := &planning{
		x: x, mode: x.mode(), policy: x.policy(), asked: req.MaxTokens, ways: route.waysOf(counter), counted: counted,
		agent: handover.Of(req.Conversation.Messages, req.NoCalls, req.Compaction), seals: req.Trigger,
		name:   strings.Clone(asked),
		sender: p.sender(x.r.Header),
	}
	c.known = p.learnt.Model(p.factKey(x.r.Header, route, req.Wire, key...), route.Upstream, name, c.sender)
	c.counts = c.known
	if names := req.ToolNames(); names != "" {
		c.counts = p.learnt.Model(p.factKey(x.r.Header, route, req.Wire, append(key, "tools", names)...), route.Upstream, name, c.sender)
	}
	c.plain = len(c.ways)
	if route.Tokenizer == "" && !counter.Exact() {
		c.ways = withOmissions(c.ways)
	}
	facts := c.known.FactsWith(c.counts)
	published, refuses := p.published(x.settings, x.r.Header, route, asked, c.plain > 1)
	c.known.Published(published)
	c.facts, c.measured = c.counting(facts, published, refuses || facts.Refuses()), !facts.Count.Until.IsZero()
	if s, ok := whole(c.ways[c.wayOf(&c.facts)].Counter).(Summing); ok && c.facts.Percent() == 100 && !c.ownCounter() {
		req.Sum(s.Sum)
	}
	c.limits = route.Limits.With(published).Under(req.Conversation.Rules)
	if w := facts.Window.Value; w > c.limits.Window && !c.told(published) {
		c.limits.Window = w // the upstream's own word against a guess by the name
	}
	if x.overrides.budget > 0 {
		c.limits.Budget = x.overrides.budget
	}
	c.info = RewriteInfo{
		ID: x.info.ID, Model: name, Route: route.Match, Policy: c.policy.Name, Kind: c.agent.Kind(), Tags: x.overrides.tags,
		PinsUnmatched: x.overrides.unmatched, Stream: req.Stream, Told: published, BytesBefore: len(in.Text), BytesAfter: len(in.Text),
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

// sender names the credential of a request; zero: it has none.
func (p *Proxy) sender(h http.Header) (key learn.Key) {
	if all := access.Credentials(h); len(all) > 0 {
		key = p.learnt.Key(append([]string{"sender"}, all...)...)
	}
	return key
}

// ownCounter reports whether the policy counts by a counter of its own: it is
// known by its numbers, and nothing corrects them.
func (c *planning) ownCounter() bool { return c.policy.Counter != nil }

// told reports whether the window is configured or published, and no guess of ours.
func (c *planning) told(published compact.Published) bool {
	return c.x.route.Configured || published.Window > 0
}

// askAgain has the upstream asked again for the window of the model, where the answer
// shows that it may tell another: a model that it has loaded by now, or one whose
// window the answer contradicts. It returns the default window of an upstream that
// has none to tell; 0 where that is not known.
func (c *planning) askAgain(contradicted bool) (unset int) {
	route := c.x.route
	if route.Configured || !route.Discover || learn.Silent(route.Upstream) {
		return 0
	}
	return c.x.p.learnt.Again(c.x.settings.asking(c.x.r.Header, route), c.name, contradicted)
}

// prepareSummary begins the summary of the coming epoch, once a conversation has
// passed the warm mark. There is none to come if the agent replaces its history.
func (c *planning) prepareSummary(req *wire.Request, p *plan) {
	if p.info.Outcome != Rejected && c.agent == "" {
		_ = c.x.safely("summary", func() error {
			c.x.p.summaries.Prepare(p.slotRequest, req.Conversation, &p.Plan)
			return nil
		})
	}
}

// summaryRequest describes a plan to the summarizer.
func (c *planning) summaryRequest(p *plan) *summarize.Request {
	x := c.x
	r := &summarize.Request{
		ID: x.info.ID, Header: x.r.Header, Owner: x.owner(), Query: x.r.URL.RawQuery, Upstream: x.route.Upstream,
		Policy: c.policy.Name, Version: c.policy.Version, Counting: p.counting(), Counter: p.slotCounter(), Budget: p.budget, Pins: x.overrides.pins,
		Unfolded:   c.policy.PerRequest != nil,
		Overridden: x.overrides.budget > 0 || x.overrides.policy != nil, Unedited: c.mode != ModeOn, Ends: c.agent != "", Bound: p.bound,
	}
	if first := x.info.Rewrite; first != nil && first.Summary != nil {
		r.Waited = first.Summary.Duration // by an earlier plan
	}
	return r
}

// counting names what counts: the counter of a model, its factor, and a limit of
// bytes if there is one.
func (p *plan) counting() string {
	name := p.info.Route + "\x00" + p.info.Model + "\x00" + p.c.x.route.Tokenizer
	if way, percent := p.folded.Count.Value.Way, p.folded.Percent(); way != "" || percent != 100 {
		name += "\x00" + way + "@" + strconv.Itoa(percent)
	}
	if p.bytesToo != nil {
		name += "/" + strconv.Itoa(p.bytesToo.bytes)
	}
	return name
}

// slotCounter returns the counter for texts of the plan's slot.
func (p *plan) slotCounter() compact.Counter {
	switch c := p.c; {
	case p.bytesToo != nil:
		return p.bytesToo
	case c.ownCounter():
		return c.policy.Counter
	default:
		return p.counter
	}
}

// newSummarizer returns the service that fills the slots of plans.
func newSummarizer(p *Proxy) *summarize.Service {
	o := p.settings.Load().Summarizer
	if o != nil && o.Transport == nil {
		own := *o
		own.Transport = newTransport(&p.settings.Load().Limits)
		o = &own
	}
	return summarize.New(o, summarize.Environment{
		Memory: p.memory,
		Ended:  p.listener.Summarized,
		Erased: p.listener.Erased,
		Failed: func(id string, v any) { p.fault(id, "summary", v) },
	})
}

// SummaryCounts returns the totals of this proxy; zero without a summarizer.
func (p *Proxy) SummaryCounts() summarize.Counts { return p.summaries.Counts() }

// published returns what the upstream of a route publishes of a model's window,
// and reports whether it is known to refuse what is too long. guessed: nobody
// knows the model's tokenizer.
func (p *Proxy) published(s *settings, h http.Header, route *Route, model string, guessed bool) (published compact.Published, refuses bool) {
	if learn.Silent(route.Upstream) {
		return compact.Published{}, true
	}
	if !route.Discover || route.Configured && !guessed {
		return compact.Published{}, false
	}
	published, refuses = p.learnt.Window(s.asking(h, route), model)
	if route.Configured {
		published.Window, published.Input = 0, 0
	}
	return published, refuses
}

// asking returns the upstream of a route as it is asked for its windows: with the
// client's credential where that goes to it with its requests, else with the
// operator's key, else with none.
func (s *settings) asking(h http.Header, route *Route) learn.Upstream {
	return learn.Upstream{URL: route.Upstream, Account: string(route.Key), Header: func() http.Header {
		auth := http.Header{}
		for name, values := range h {
			if access.IsCredential(name) {
				auth[name] = values
			}
		}
		s.setCredential(auth, route, access.Models)
		return auth
	}}
}
