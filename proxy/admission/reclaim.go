package admission

import "slices"

// Background makes a reservation of n bytes for work in the background, which the gate
// may reclaim, or nil if they are not free. Such work may have half of the memory. release
// gives it back, now or soon. It reports false if its owner cannot do without it any more.
func (g *Gate) Background(n int64, release func() bool) *Reservation {
	r := g.Reserve("")
	g.mu.Lock()
	defer g.mu.Unlock()
	if n > g.work.limit*2/3 || len(g.work.waiting) > 0 || !g.work.within(&r.held, n) {
		return nil
	}
	g.work.set(&r.held, n)
	r.background, r.offer = true, release
	g.offers = append(g.offers, r)
	return r
}

// Offer lets the gate reclaim what r holds, by release: a body that was sent and is kept
// for a retry. It reports false, and does nothing, if others wait for the memory already.
func (r *Reservation) Offer(release func() bool) bool {
	g := r.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.work.lacks() > g.coming {
		return false
	}
	r.withdraw()
	r.offer = release
	at := slices.IndexFunc(g.offers, func(o *Reservation) bool { return o.background })
	if at < 0 {
		at = len(g.offers)
	}
	g.offers = slices.Insert(g.offers, at, r) // a summary that ends unwritten costs more than a retry
	return true
}

// withdraw takes back an offer.
func (r *Reservation) withdraw() {
	if r.offer != nil {
		r.offer = nil
		r.gate.offers = slices.DeleteFunc(r.gate.offers, func(o *Reservation) bool { return o == r })
	}
}

// reclaim takes back memory until what is coming is enough for those who wait: of
// kept bodies first, the oldest first, and then of work in the background.
func (g *Gate) reclaim() {
	for {
		r, release := g.nextOffer()
		if r == nil {
			return
		}
		if !release() {
			g.mu.Lock()
			g.coming -= r.held.n
			r.reclaimed = false
			g.mu.Unlock()
		}
	}
}

// nextOffer returns what is to be reclaimed next, or nil.
func (g *Gate) nextOffer() (r *Reservation, release func() bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.offers) == 0 || g.work.lacks() <= g.coming {
		return nil, nil
	}
	r, release = g.offers[0], g.offers[0].offer
	r.withdraw()
	if !r.reclaimed {
		r.reclaimed = true
		g.coming += r.held.n
	}
	return r, release
}
