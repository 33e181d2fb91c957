package admission

import (
	"slices"
	"time"
)

// While requests wait for the memory of bodies that arrive, those must arrive at no
// less than stallRate bytes per second, after stallGrace.
const (
	stallGrace = 500 * time.Millisecond
	stallRate  = 256 << 10
)

// Source is a body that is being received.
type Source interface {
	Received() int64 // bytes that came
	Abort()          // others need the memory: read no more
}

// Arrive notes that the body of r is being received from src, until the returned
// function is called.
func (r *Reservation) Arrive(src Source) (done func()) {
	g := r.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	r.source = src
	r.resume()
	g.arriving[r] = struct{}{}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.arriving, r)
	}
}

// resume notes that the body may arrive from now on.
func (r *Reservation) resume() {
	if r.source != nil {
		r.since, r.already = time.Now(), r.source.Received()
	}
}

// stalls reports whether the body arrives too slowly to keep its memory while
// others wait for it. A body that waits for memory itself does not.
func (r *Reservation) stalls() bool {
	late := time.Since(r.since) - stallGrace
	return r.received.want == 0 && late > 0 && r.source.Received()-r.already < int64(late.Seconds()*stallRate)+1
}

// evict aborts the arrival of bodies that stall while others wait for their memory.
// If a client within its share has waited for long, it also aborts bodies of clients
// that hold more than theirs, the largest first.
//
// All who wait ask for it, and there may be thousands: the work is done for all of them
// at once, now and then.
func (g *Gate) evict() {
	var all []*Reservation
	defer func() { // without the lock
		for _, r := range all {
			r.source.Abort()
		}
	}()
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if now.Sub(g.lastEvicted) < stallGrace/8 {
		return
	}
	g.lastEvicted = now
	lacking := g.arrival.lacks()
	end := func(r *Reservation) {
		delete(g.arriving, r)
		lacking -= r.received.n
		all = append(all, r)
	}
	for r := range g.arriving {
		if lacking > 0 && r.stalls() {
			end(r)
		}
	}
	long := slices.ContainsFunc(g.arrival.waiting, func(h *holding) bool {
		return now.Sub(h.since) >= stallGrace && !g.arrival.overShare(h.client)
	})
	for long && lacking > 0 {
		var largest *Reservation
		for r := range g.arriving {
			if r.received.want == 0 && g.arrival.overShare(r.received.client) && (largest == nil || r.received.n > largest.received.n) {
				largest = r
			}
		}
		if largest == nil {
			return
		}
		end(largest)
	}
}
