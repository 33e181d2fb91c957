package page

// Bounds of what is kept of requests.
const (
	mostRequests = 1000
	mostBytes    = 24 << 20
)

// ring keeps the newest requests.
type ring struct {
	all  []*request // oldest first
	byID map[string]*request
	size int
}

func newRing() ring { return ring{byID: map[string]*request{}} }

// at returns the request of an id, a new one where there is none.
func (g *ring) at(id string) *request {
	r := g.byID[id]
	if r == nil {
		r = &request{id: id}
		g.byID[id] = r
		g.all = append(g.all, r)
		g.drop()
	}
	return r
}

// close notes that a request is over, and will take no more room.
func (g *ring) close(r *request) {
	if r.room == 0 {
		r.room = r.size()
		g.size += r.room
	}
	g.drop()
}

// drop lets the oldest requests go.
func (g *ring) drop() {
	for len(g.all) > 1 && (len(g.all) > mostRequests || g.size > mostBytes) {
		r := g.all[0]
		g.all[0] = nil
		g.all = g.all[1:]
		delete(g.byID, r.id)
		g.size -= r.room
	}
}
