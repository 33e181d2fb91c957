package proxy

import (
	"errors"

	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/summarize"
	"laconic/proxy/wire"
)

// plan is how a conversation is to be sent: the edits, and what becomes of the
// body by them. A second attempt has a plan of its own.
type plan struct {
	compact.Plan
	attempt
	// counter counts as the upstream did when the conversation was folded, whatever
	// the policy counts by, and folded are the facts with that count. held: it was
	// folded before.
	counter  compact.Counter
	folded   learn.Facts
	held     bool
	bytesToo *byteWeighted     // counts that the plan is within a limit of bytes too; nil: no limit is known
	tools    int               // what the tools cost, in tokens
	messages []compact.Message // that are sent; nil: none, or the client's
	texts    []string          // for the slot; "" and those that are missing: the digest
	// slotRequest asks for the texts of the slot.
	slotRequest *summarize.Request
}

// attempt is what is known of a body that is sent, and how the upstream answered
// it. It holds nothing of the body.
type attempt struct {
	c      *planning
	info   RewriteInfo
	facts  learn.Facts // under which it was planned
	budget compact.Budget
	sizes  sizes
	bytes  int  // decompressed
	bound  bool // the client's history holds bound thinking, and was planned for that
	signed bool // some of it was sent
	// slotted: a text is in the place of what left.
	slotted bool
	edited  bool // the body is not the client's any more
	// answered: the upstream took it, and began to answer; at the end of the
	// answer: it was one.
	answered bool
}

// planOrRepair returns the plan of a conversation. Where the upstream stated a
// limit that the tools and framing alone are above, the plan changes no more than
// it must. To shorten the conversation would help nobody then: if the limit is
// true the request is refused all the same, with numbers that the client can make
// nothing of, and if it is not, its history was lost for nothing.
func (c *planning) planOrRepair(req *wire.Request) (plan, error) {
	p, err := c.plan(req, c.facts, false)
	if err != nil || p.info.Outcome != Over || c.policy.Reject ||
		p.facts.Window.Value == 0 && p.facts.Input.Value == 0 && p.facts.Hard.Value == 0 ||
		p.info.Report.Fixed < p.facts.Accepts(c.limits, 0) {
		return p, err
	}
	facts := p.facts
	facts.Shape.Value |= compact.Original
	repaired, err := c.plan(req, facts, false)
	repaired.facts, repaired.info.Facts = p.facts, p.facts
	return repaired, err
}

// plan repairs and folds a conversation under facts. unbind: all bound thinking
// leaves.
func (c *planning) plan(req *wire.Request, facts learn.Facts, unbind bool) (p plan, err error) {
	err = c.x.safely("compact", func() error {
		in := req.Conversation
		p.c, p.info, p.bound = c, c.info, bound(in.Messages)
		facts = c.factsFor(&in, facts, p.bound, unbind)
		p.counter = facts.Counter(c.ways[c.wayOf(&facts)].Counter)
		if c.ownCounter() {
			facts.Count = learn.Fact[learn.Count]{}
		}
		in.Fixed = p.counter.Fixed(req.Beside)
		p.tools = in.Fixed - p.counter.Fixed(compact.Beside{})
		p.facts, p.folded, p.budget = facts, facts, facts.Budget(c.limits, req.MaxTokens)
		policy := c.demanding(facts.Shape.Value)
		p.compact(req, in, func() *compact.Policy { return p.recorded(policy) })
		if most := facts.Bytes.Value; most > 0 && p.info.BytesBefore > most {
			p.lighten(req, in, policy)
		}
		p.info.Decisive = facts.Decisive(c.limits, req.MaxTokens, p.info.BytesBefore, in.Unbind > 0)
		p.info.Facts, p.info.Outcome, p.info.NewEpoch = facts, Outcome(p.info.Report.Outcome), p.NewEpoch()
		return nil
	})
	return p, err
}

// recorded returns a policy with the records of this plan. How they are counted is
// known by now.
func (p *plan) recorded(policy *compact.Policy) *compact.Policy {
	p.slotRequest = p.c.summaryRequest(p)
	with, s := *policy, p.c.x.p.summaries
	with.Summaries, with.Records = s.Asks(), s.Records(p.slotRequest)
	return &with
}

// demanding returns the policy under what the template demands, as was learnt, and as
// the route says of system messages.
func (c *planning) demanding(d compact.Demands) *compact.Policy {
	switch c.x.route.SystemMessages {
	case SystemFold:
		d |= compact.OneSystem
	case SystemKeep:
		d &^= compact.OneSystem | compact.NoSystem
	}
	with := *c.policy
	with.Demands = d
	return &with
}

// body makes the body that is sent. One that needs no edit is the client's own,
// and so is one that is only measured. A request that is over its budget under a policy
// that rejects has none.
func (p *plan) body(req *wire.Request) (body []byte, err error) {
	rejects := p.c.policy.Reject
	switch {
	case p.c.mode == ModeShadow:
		p.info.Outcome, p.bytes = Shadow, len(req.Body)
		before := p.info.Report.Before
		if p.held {
			before = 0
		}
		p.sizes = p.sizesOf(req, req.Conversation.Messages, before)
		return req.Body, nil
	case rejects && p.info.Outcome == Over:
		p.info.Outcome = Rejected
		return nil, nil
	}
	if body, err = p.encode(req); rejects && p.info.Outcome == Over {
		p.info.Outcome = Rejected // by the model's count of the text in the slot
	}
	return body, err
}

// encode fills the slot of a plan and makes its body.
func (p *plan) encode(req *wire.Request) (body []byte, err error) {
	err = p.c.x.safely("encode", func() (err error) {
		body, err = p.write(req)
		return err
	})
	return body, err
}

// fill sets the texts for the slot of a plan, and notes their account in it.
func (p *plan) fill(in compact.Conversation) {
	p.texts, p.info.Summary = p.c.x.p.summaries.Text(p.c.x.r.Context(), p.slotRequest, in, &p.Plan)
}

func (p *plan) write(req *wire.Request) ([]byte, error) {
	in := req.Conversation
	in.Fixed = p.info.Report.Fixed
	p.fill(in)
	edited := p.Apply(p.texts...)
	p.messages = edited
	p.slotted, p.signed = p.Slot != nil, bound(edited)
	exact := p.info.Report.After
	switch {
	case p.c.ownCounter():
		p.info.Report.Sent(in.Fixed+compact.CostAll(p.counter, edited), p.budget)
		p.info.Outcome = Outcome(p.info.Report.Outcome)
	case p.bytesToo != nil:
		p.info.Report.After = in.Fixed + compact.CostAll(p.bytesToo.Counter, edited)
	}
	if p.slotted || p.held || p.bytesToo != nil || p.c.ownCounter() {
		exact = 0 // a slot is charged more than its text costs, and the policy may count otherwise
	}
	p.sizes = p.sizesOf(req, edited, exact)
	body, err := req.Encode(edited)
	if err == nil && len(body) == 0 {
		err = errors.New("encoded to nothing")
	}
	if err != nil {
		return nil, err
	}
	p.bytes, p.info.BytesAfter = len(body), len(body)
	p.edited = &body[0] != &req.Body[0]
	return body, nil
}
