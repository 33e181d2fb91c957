package page

import (
	"time"

	"laconic/proxy"
	"laconic/view"
)

// request is what is kept of one request. It holds no content.
type request struct {
	id      string
	began   time.Time
	tenant  *tenant
	conv    *conversation     // nil: it is not of a conversation that could be read
	rewrite proxy.RewriteInfo // without an ID: it was not measured
	pass    *proxy.PassInfo
	reply   proxy.ReplyInfo // without an ID: it is not over; Rewrite and Pass are those above
	details *view.Request   // never changed
	shadow  bool            // nothing of them was done
	again   bool            // they are of the second send
	cost    cost
	room    int // in the ring, in bytes; 0: it is not over
	version uint64
}

// size returns about how many bytes a request takes.
func (r *request) size() int {
	n := 2000
	if r.details != nil {
		n += r.details.Size()
	}
	return n
}

// detailsOf returns what a plan makes of each message. Most of what they cost is known
// from the plan.
func detailsOf(i *proxy.PlanInfo) *view.Request {
	p := view.Planned{Conversation: i.Conversation, Sent: i.Sent, Plan: i.Plan, Counter: i.Counter}
	p.Before, p.After = i.Costs()
	for _, part := range i.Record() {
		p.Record = append(p.Record, view.Part(part))
	}
	return view.Of(&p)
}
