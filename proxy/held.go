package proxy

import (
	"slices"

	"laconic/compact"
	"laconic/proxy/fingerprint"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// beginning returns the hash of a conversation up to the first answer of its model,
// which no other conversation has; "" before there is one.
func (c *conversation) beginning(msgs []compact.Message) string {
	first := slices.IndexFunc(msgs, func(m compact.Message) bool { return m.Role == compact.Assistant })
	if first < 0 || c.begins != "" {
		return c.begins
	}
	list := fingerprint.NewChain(nil)
	for i := range msgs[:first+1] {
		list.Add(&msgs[i])
	}
	c.begins = list.Sum()
	return c.begins
}

// compact folds a conversation by the count that it was folded with before, as far
// as that is known, so that a count that changes moves none of its epochs.
func (p *plan) compact(req *wire.Request, in compact.Conversation, policy func() *compact.Policy) {
	c, now := p.c, p.counter
	fold := func() { p.Plan, p.info.Report = c.agent.Compact(in, policy(), p.counter, p.budget) }
	begins := ""
	if !p.bound && !c.ownCounter() {
		begins = c.beginning(in.Messages)
	}
	var known *learn.Model
	if begins != "" {
		known = c.x.p.learnt.Conversation(c.known, begins, false)
	}
	if known == nil {
		if fold(); begins == "" || len(p.Epochs) == 0 {
			return
		}
		known = c.x.p.learnt.Conversation(c.known, begins, true)
		if _, ok := known.Held(); !ok {
			known.SetHeld(learn.Held{Count: p.facts.Count.Value, Confirmed: !p.facts.Count.Until.IsZero()})
			return
		}
	}
	held, ok := known.Held()
	if !ok {
		fold()
		return
	}
	p.folded = held.Facts(p.facts)
	p.counter = p.folded.Counter(c.ways[c.wayOf(&p.folded)].Counter)
	fixed := in.Fixed
	in.Fixed = p.counter.Fixed(req.Beside)
	in.Rates = held.ReadRates(len(in.Messages))
	rate, kept := compact.Rate{Percent: 100}, false
	if n := len(in.Rates); n > 0 {
		rate = in.Rates[n-1]
	}
	if of := compact.CostAll(p.counter, in.Messages); of > 0 && c.measured {
		to := compact.Rate{From: len(in.Messages), Percent: max(1, 100*compact.CostAll(now, in.Messages)/of)}
		to.Extra = fixed - to.Of(in.Fixed)
		was, is := rate.Of(p.budget.Tokens), to.Of(p.budget.Tokens)
		if is*100 > was*(100+rateSlack) || is*100 < was*(100-2*rateSlack) {
			held, in.Rates = held.WithRate(to)
		} else {
			kept = true
		}
		rate = to
	}
	fold()
	r := p.info.Report.At(rate)
	if kept && r.After > p.budget.Tokens { // there is no room for what the rate leaves open
		held, in.Rates = held.WithRate(rate)
		fold()
		r = p.info.Report.At(rate)
	}
	known.SetHeld(held)
	p.held, req.Conversation.Rates = true, in.Rates
	r.Fixed, r.Budget = fixed, p.budget.Tokens
	p.info.Report = r
}

// rateSlack is how far, in percent, a conversation that was folded may be
// under-counted, and half of how far it may be over-counted, before its rate
// changes. What triggers, lands and is reserved leaves room for that.
const rateSlack = 4
