// Package plan decides what a request may cost, and makes the list of messages that is
// sent for it.
//
// It takes and returns values: [Terms] are what a request may cost by what is known of
// its model, a [Plan] is how its conversation is sent under facts, and an [Account] is
// what stays of a plan once its body is gone. It knows neither HTTP nor who asks.
package plan

import (
	"cmp"
	"strconv"
	"strings"

	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// Plan is how a conversation is to be sent: the edits, and what becomes of the
// body by them. A second attempt has a plan of its own.
type Plan struct {
	compact.Plan
	Account
	// Counter counts as the upstream did when the conversation was folded, whatever
	// the policy counts by, and folded are the facts with that count. held: it was
	// folded before.
	Counter  compact.Counter
	folded   learn.Facts
	held     bool
	anew     bool              // it is folded by another count than before
	bytesToo *byteWeighted     // counts that the plan is within a limit of bytes too; nil: no limit is known
	Tools    int               // what the tools cost, in tokens
	Messages []compact.Message // that are sent; nil: none, or the client's
	Texts    []string          // for the slot; "" and those that are missing: the digest
}

// Account is what is known of a body that is sent. It holds nothing of the body.
type Account struct {
	Terms    *Terms
	Report   compact.Report
	Facts    learn.Facts // under which it was planned
	Decisive []string    // those without which the plan would be another
	Budget   compact.Budget
	Bound    bool // the client's history holds bound thinking, and was planned for that
	Signed   bool // some of it was sent
	// Slotted: a text is in the place of what left.
	Slotted bool
	Edited  bool       // the body is not the client's any more
	Sent    learn.Sent // describes it to what learns from its answer
}

// NewEpoch reports whether what was sent before is not the start of what this plan sends.
func (p *Plan) NewEpoch() bool { return p.anew || p.Plan.NewEpoch() }

// PlanOrRepair returns the plan of a conversation. Where the upstream stated a limit
// that the tools and framing alone are above, the plan changes no more than it must.
// Shortening would not help: if the stated limit is right, the request is refused
// anyway; if it is wrong, history was dropped for nothing.
func (t *Terms) PlanOrRepair(req *wire.Request) *Plan {
	p := t.Plan(req, t.Facts, false)
	if p.Report.Outcome != compact.Over || t.Policy.Reject ||
		p.Facts.Window.Value == 0 && p.Facts.Input.Value == 0 && p.Facts.Hard.Value == 0 ||
		p.Report.Fixed < p.Facts.Accepts(t.Limits, 0) {
		return p
	}
	facts := p.Facts
	facts.Demands.Value |= compact.Original
	repaired := t.Plan(req, facts, false)
	repaired.Facts = p.Facts
	return repaired
}

// Plan repairs and folds a conversation under facts. unbind: all bound thinking
// leaves.
func (t *Terms) Plan(req *wire.Request, facts learn.Facts, unbind bool) *Plan {
	in, p := req.Conversation, &Plan{}
	p.Terms, p.Bound = t, bound(in.Messages)
	facts = t.factsFor(&in, facts, p.Bound, unbind)
	p.Counter = facts.Counter(t.WayOf(&facts))
	if t.ownCounter() {
		facts.Count = learn.Fact[learn.Count]{}
	}
	in.Fixed = p.Counter.Fixed(req.Beside)
	p.Tools = in.Fixed - p.Counter.Fixed(compact.Beside{})
	p.Facts, p.folded, p.Budget = facts, facts, facts.Budget(t.Limits, t.asked)
	policy := *t.Policy
	policy.Demands, policy.Left = facts.Demands.Value&^t.Never|t.Always, t.Left
	p.compact(req, in, &policy)
	if most := facts.Bytes.Value; most > 0 && len(req.Body) > most {
		p.lighten(req, in, &policy)
	}
	p.Decisive = facts.Decisive(t.Limits, t.asked, len(req.Body), in.Unbind > 0)
	return p
}

// Counting names what counts beside the counter of the model: its way, its factor, and
// a limit of bytes if there is one.
func (p *Plan) Counting() (name string) {
	if way, percent := p.folded.Count.Value.Way, p.folded.Percent(); way != "" || percent != 100 {
		name = "\x00" + way + "@" + strconv.Itoa(percent)
	}
	if p.bytesToo != nil {
		name += "/" + strconv.Itoa(p.bytesToo.bytes)
	}
	return name
}

// SlotCounter returns the counter for texts of the plan's slot.
func (p *Plan) SlotCounter() compact.Counter {
	if p.bytesToo != nil {
		return p.bytesToo
	}
	return cmp.Or(p.Terms.Policy.Counter, p.Counter)
}

// Counted reports whether the costs of the plan are those of its Counter.
func (p *Plan) Counted() bool { return !p.Terms.ownCounter() && p.bytesToo == nil }

// Measure describes the client's own body to what learns from its answer.
func (p *Plan) Measure(req *wire.Request) {
	p.Sent = p.sentAs(req, req.Conversation.Messages, 0, len(req.Body))
}

// Encode makes the body that is sent, with texts in the slot. One that needs no edit
// is the client's own.
func (p *Plan) Encode(req *wire.Request, texts []string) ([]byte, error) {
	fixed, own := p.Report.Fixed, p.Terms.ownCounter()
	p.Texts = texts
	p.Messages = p.Apply(texts...)
	p.Slotted, p.Signed = p.Slot != nil, bound(p.Messages)
	exact := 0 // a slot is charged more than its text costs, and the policy may count otherwise
	switch {
	case own:
		p.Report.Sent(fixed+compact.CostAll(p.Counter, p.Messages), p.Budget)
	case p.bytesToo != nil:
		p.Report.After = fixed + compact.CostAll(p.bytesToo.Counter, p.Messages)
	case !p.Slotted && !p.held:
		exact = p.Report.After
	}
	body, err := req.Encode(p.Messages)
	if err != nil {
		return nil, err
	}
	p.Sent, p.Edited = p.sentAs(req, p.Messages, exact, len(body)), &body[0] != &req.Body[0]
	return body, nil
}

// sentAs describes a body of so many bytes to what learns from its answer. exact is what
// the plan says of the body, 0 where that is not exactly what it costs. Media are charged
// alike by all ways of counting.
func (p *Plan) sentAs(req *wire.Request, msgs []compact.Message, exact, bytes int) learn.Sent {
	t := p.Terms
	s := learn.Sent{
		Way: p.Facts.Count.Value.Way, Percent: p.Facts.Percent(), Bytes: bytes, Asked: t.asked,
		Limits: t.Limits, Stated: t.Stated, OwnCounter: t.ownCounter() || t.Chosen, Exact: len(t.ways) == 1 && t.ways[0].Counter.Exact(), Bound: p.Bound,
		Plain: t.plain, Agent: t.Counts,
	}
	for _, w := range t.ways {
		s.Ways = append(s.Ways, w.Name)
	}
	ways := t.ways
	if t.ownCounter() {
		ways = []Way{{Counter: t.Policy.Counter}}
	}
	for _, w := range ways {
		n := exact
		if n == 0 || p.Facts.Percent() != 100 || p.Facts.Count.Value.Way != w.Name {
			n = w.Counter.Fixed(req.Beside) + compact.CostAll(w.Counter, msgs)
		}
		s.Sizes = append(s.Sizes, n)
	}
	thinking, texts := 0, 0
	for i := range msgs {
		m := &msgs[i]
		thinking += m.Reasoning.Len()
		texts += m.Reasoning.Len()
		for k := range m.Parts {
			part := &m.Parts[k]
			texts += part.Text.Len()
			if part.Kind.Media() {
				s.Media += ways[0].Counter.Part(m, part)
			} else if text, _ := part.Text.Source(); m.Role == compact.Assistant && strings.Contains(text, "/think") {
				thinking += part.Text.Len()
			}
		}
		for k := range m.Calls {
			texts += m.Calls[k].Arguments.Len()
		}
		s.List.Bytes = append(s.List.Bytes, texts)
	}
	s.List.Conversation, s.List.Thinking = t.beginning(req.Conversation.Messages), thinking/bytesOfToken
	return s
}

// bytesOfToken is how many bytes of thinking are a token at the least, on average.
const bytesOfToken = 3
