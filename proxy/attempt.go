package proxy

import (
	"laconic/proxy/plan"
	"laconic/proxy/wire"
)

// attempt is what is known of a body that is sent, and how the upstream answered
// it. It holds nothing of the body.
type attempt struct {
	plan.Account
	c    *planning
	info RewriteInfo
	// answered: the upstream took it, and began to answer; at the end of the
	// answer: it was one.
	answered bool
}

// attempt returns the attempt of a plan, and the body that is sent: the client's own
// where the request is only measured, and none where it is over its budget under a
// policy that rejects.
func (c *planning) attempt(p *plan.Plan, req *wire.Request) (a attempt, body []byte, err error) {
	a = attempt{c: c, info: c.info}
	over := func() bool { return c.Policy.Reject && Outcome(p.Report.Outcome) == Over }
	switch {
	case c.x.mode() == ModeShadow:
		p.Measure(req)
		body = req.Body
	case over():
	default:
		body, err = c.encode(p, req, &a.info)
	}
	a.account(p)
	switch {
	case c.x.mode() == ModeShadow:
		a.info.Outcome = Shadow
	case over(): // maybe by the model's count of the text in the slot
		a.info.Outcome = Rejected
	}
	return a, body, err
}

// encode fills the slot of a plan and makes its body.
func (c *planning) encode(p *plan.Plan, req *wire.Request, info *RewriteInfo) (body []byte, err error) {
	err = c.x.safely("encode", func() (err error) {
		var texts []string
		texts, info.Summary = c.x.p.summaries.Text(c.x.r.Context(), c.slot, req.Conversation, &p.Plan)
		body, err = p.Encode(req, texts)
		info.BytesAfter = len(body)
		return err
	})
	return body, err
}

// account fills in what the plan says.
func (a *attempt) account(p *plan.Plan) {
	a.Account = p.Account
	i := &a.info
	i.Report, i.Facts, i.Decisive, i.Outcome, i.NewEpoch = p.Report, p.Facts, p.Decisive, Outcome(p.Report.Outcome), p.NewEpoch()
}
