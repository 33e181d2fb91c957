package proxy

import (
	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/plan"
	"laconic/view"
)

// PlanInfo is one plan in full: what a client sent, and what is sent in its place.
// All of it but ID, From and Again is content, or is made of it, and points into
// the request's body: a listener must not keep it.
type PlanInfo struct {
	ID   string
	From Sender
	// Again: the upstream refused the body of the plan before, and gets the one of
	// this plan.
	Again bool
	// Planned has as Sent what would be sent, where nothing of the plan is done.
	view.Planned
	// Body is the client's, decompressed, SentBody the one that is sent; the same
	// slice where nothing was done.
	Body, SentBody []byte
}

// Sender names who sent a request, and shows nothing of a credential.
type Sender struct {
	// Key is the name of the client key; "" where there are none.
	Key string
	// Credential is a keyed hash of the headers that hold credentials; the zero Key
	// where there are none.
	Credential learn.Key
}

// tellPlan tells the listener of a plan, if it wants to know. body is what is sent.
func (x *request) tellPlan(p *plan.Plan, a *attempt, in compact.Conversation, client, body []byte, again bool) {
	if x.p.listener.Planned == nil {
		return
	}
	i := PlanInfo{
		ID: x.info.ID, From: Sender{Key: x.info.Client, Credential: a.c.sender}, Again: again, Body: client, SentBody: body,
		Planned: view.Planned{Conversation: in, Sent: p.Messages, Plan: &p.Plan, Counter: p.Counter, Texts: p.Texts},
	}
	if a.info.Outcome == Shadow {
		i.Sent = p.Apply()
	}
	if p.Counted() { // else they are not those of the counter
		i.Before, i.After = p.Costs()
	}
	x.p.listener.Planned(i)
}
