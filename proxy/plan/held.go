package plan

import (
	"slices"
	"strconv"

	"laconic/compact"
	"laconic/proxy/fingerprint"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// beginning returns the hash of a conversation up to the first answer of its model,
// which no other conversation has; "" before there is one.
func (t *Terms) beginning(msgs []compact.Message) string {
	first := slices.IndexFunc(msgs, func(m compact.Message) bool { return m.Role == compact.Assistant })
	if first < 0 || t.begins != "" {
		return t.begins
	}
	list := fingerprint.NewChain(nil)
	for i := range msgs[:first+1] {
		list.Add(&msgs[i])
	}
	t.begins = list.Sum()
	return t.begins
}

// compact folds a conversation by the count that it was folded with before, as far
// as that is known, so that a count that changes moves none of its epochs. Only what
// was folded before is held to that: with other tools, or under another budget, it is
// another conversation, and one that has fewer messages than the first list that was
// folded, and fits, is sent as it is. One that was folded before answers had shown the
// count is folded anew by that count where an epoch starts: its prefix is lost anyway.
func (p *Plan) compact(req *wire.Request, in compact.Conversation, policy *compact.Policy) {
	t, now := p.Terms, p.Counter
	fold := func() {
		t.SetRecords(p, policy) // how records are counted is known by now
		p.Plan, p.Report = t.Agent.Compact(in, policy, p.Counter, p.Budget)
	}
	begins := t.beginning(in.Messages)
	if begins == "" || t.ownCounter() {
		fold()
		return
	}
	known := t.Learnt.Conversation(t.Counts, p.Bound, begins, strconv.Itoa(p.Budget.Tokens))
	var before learn.Fact[learn.Held]
	if known != nil {
		before = known.Facts().Held
	}
	n, held := len(in.Messages), before.Value
	first := n < held.From || before.Until.IsZero()
	switch {
	case first && p.Bound:
		held = learn.Held{Count: learn.Count{Way: t.ways[0].Name}, Confirmed: true, From: n}
	case first:
		if fold(); len(p.Epochs) == 0 || t.Left() {
			return
		}
		if before.Until.IsZero() {
			known = t.Learnt.Conversation(t.Counts, true, begins, strconv.Itoa(p.Budget.Tokens))
			known.SetHeld(learn.Held{Count: p.Facts.Count.Value, Confirmed: !p.Facts.Count.Until.IsZero(), From: n})
			return
		}
		held.From = n
	}
	p.folded = held.Facts(p.Facts)
	p.Counter = p.folded.Counter(wayOf(slices.Concat(t.ways, t.before), &p.folded))
	fixed := in.Fixed
	in.Fixed = p.Counter.Fixed(req.Beside)
	in.Rates = held.RatesFor(len(in.Messages))
	rate, kept, other := compact.Rate{Percent: 100}, false, false
	if n := len(in.Rates); n > 0 {
		rate = in.Rates[n-1]
	}
	change := func() {
		if rate.From = t.Policy.Length(in.Messages); first && p.Bound {
			rate.From = 0 // as another process may have begun
		}
		held = held.WithRate(rate)
		in.Rates = held.Rates
	}
	// Answers have shown the count, or a refusal of this request has.
	measured := !t.Facts.Count.Until.IsZero() || !p.Facts.Count.Until.IsZero()
	if of := compact.CostAll(p.Counter, in.Messages); of > 0 && measured {
		was := rate.Of(p.Budget.Tokens)
		rate = compact.Rate{Percent: max(1, 100*compact.CostAll(now, in.Messages)/of)}
		rate.Extra = fixed - rate.Of(in.Fixed)
		is := rate.Of(p.Budget.Tokens)
		other = is*100 < was*99 || is*100 > was*101
		if kept = !first && is*100 <= was*(100+rateSlack) && is*100 >= was*(100-2*rateSlack); !kept {
			change()
		}
	}
	fold()
	r := p.Report.At(rate)
	// There is no room for what the rate leaves open, or an epoch that knows better keeps more.
	if kept && (other && p.NewEpoch() || r.After > p.Budget.Above(r.Required).Room()) {
		change()
		fold()
		r = p.Report.At(rate)
	}
	if measured && !held.Confirmed && held.Count != p.Facts.Count.Value && p.NewEpoch() && !t.Left() {
		p.anew, p.Counter, p.folded, in.Fixed, in.Rates = true, now, p.Facts, fixed, nil
		fold()
		known.SetHeld(learn.Held{Count: p.Facts.Count.Value, Confirmed: true, From: len(in.Messages)})
		return
	}
	if !t.Left() {
		known.SetHeld(held)
	}
	p.held, req.Conversation.Rates = true, in.Rates
	r.Fixed = fixed
	r.Sent(r.After, p.Budget)
	p.Report = r
}

// rateSlack is how far, in percent, a conversation that was folded may be under-counted,
// and half of how far it may be over-counted, before its rate changes between two
// epochs. Trigger, land and reserve leave room for that.
const rateSlack = 4
