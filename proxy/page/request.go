package page

import (
	"time"

	"laconic/proxy"
	"laconic/view"
)

// request is what is kept of one request. Only texts holds content.
type request struct {
	id      string
	began   time.Time
	from    proxy.Sender
	conv    *conversation   // nil: it is not of a conversation that could be read
	reply   proxy.ReplyInfo // as far as it is known
	details *view.Request   // never changed
	again   bool            // they are of the second send
	texts   *texts          // nil: they are not kept
	cost    totals
	room    int // in the ring, in bytes; 0: it is not over
	version uint64
}

// client returns the name of who sent the request; "": it is not known.
func (r *request) client() string {
	if r.details == nil && r.from.Key == "" {
		return ""
	}
	return nameOf(r.from)
}

// Bounds of what is kept of requests.
const (
	mostRequests = 1000
	mostBytes    = 24 << 20
)

// at returns the request of an id, a new one where there is none. The caller holds mu,
// as that of drop does.
func (p *Page) at(id string) *request {
	r := p.byID[id]
	if r == nil {
		r = &request{id: id}
		p.byID[id] = r
		p.requests = append(p.requests, r)
		p.drop()
	}
	return r
}

// drop lets the oldest requests go.
func (p *Page) drop() {
	for len(p.requests) > 1 && (len(p.requests) > mostRequests || p.size > mostBytes) {
		r := p.requests[0]
		p.keep(r, nil)
		p.requests[0] = nil
		p.requests = p.requests[1:]
		delete(p.byID, r.id)
		p.size -= r.room
	}
}
