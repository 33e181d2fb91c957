package proxy

import (
	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/plan"
)

// PlanInfo is one plan in full: what a client sent, and what is sent in its place.
// All of it but ID, Again and Shadow is content, or is made of it, and points into
// the request's body: a listener must not keep it.
type PlanInfo struct {
	ID string
	// Again: the upstream refused the body of the plan before, and gets the one of
	// this plan.
	Again bool
	// Shadow: nothing of the plan is done.
	Shadow bool
	// Conversation is what the client sent; its Fixed is what the policy counts by.
	Conversation compact.Conversation
	// Sent are the messages that are sent, the same list where nothing was done;
	// nil where nothing is sent.
	Sent    []compact.Message
	Plan    *compact.Plan
	Counter compact.Counter // counts as the upstream does
	// Body is the client's, decompressed, SentBody the one that is sent; the same
	// slice where nothing was done.
	Body, SentBody []byte

	c *planning
	p *plan.Plan
}

// Sender names who sent a request, and shows nothing of a credential.
type Sender struct {
	// Key is the name of the client key; "" where there are none.
	Key string
	// Credential is a keyed hash of the headers that hold credentials, new with
	// each process; the zero Key where there are none.
	Credential learn.Key
}

// Sender returns who sent the request.
func (i *PlanInfo) Sender() (s Sender) {
	if i.c == nil {
		return s
	}
	if keys := i.c.x.settings.keys; len(keys) > 0 {
		s.Key = i.c.x.settings.keyName(keys.Index(i.c.x.r.Header))
	}
	s.Credential = i.c.sender
	return s
}

// A RecordPart is a part of the record as it is sent.
type RecordPart struct {
	Text string // "": it says nothing
	// Messages is how many messages the text says it stands for.
	Messages int
	Summary  bool // a model wrote it
}

// Record returns the parts of the record as they are sent, or would be; nil where there
// is none.
func (i *PlanInfo) Record() (parts []RecordPart) {
	s := i.Plan.Slot
	if s == nil {
		return nil
	}
	var given []string
	if i.p != nil {
		given = i.p.Texts
	}
	for n, text := range s.Texts(given) {
		one := RecordPart{Text: text, Messages: s.Told(n), Summary: n < len(given) && given[n] != ""}
		if one.Summary {
			one.Messages = 0
			for range s.Messages(n) {
				one.Messages++
			}
		}
		parts = append(parts, one)
	}
	return parts
}

// Costs returns what [compact.Plan.Costs] does, for the messages of Conversation;
// nil where that is not known, or counted otherwise than by Counter.
func (i *PlanInfo) Costs() (before, after []int) {
	if i.p == nil || !i.p.Counted() {
		return nil, nil
	}
	return i.Plan.Costs()
}

// tellPlan tells the listener of a plan, if it wants to know. body is what is sent.
func (x *request) tellPlan(p *plan.Plan, a *attempt, in compact.Conversation, client, body []byte, again bool) {
	if x.p.listener.Planned == nil {
		return
	}
	shadow := a.info.Outcome == Shadow
	sent := p.Messages
	if shadow {
		sent = in.Messages
	}
	x.p.listener.Planned(PlanInfo{
		ID: x.info.ID, Again: again, Shadow: shadow, Conversation: in, Sent: sent, Plan: &p.Plan, Counter: p.Counter,
		Body: client, SentBody: body, c: a.c, p: p,
	})
}
