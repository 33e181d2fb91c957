// Package admission shares out memory to the bodies of requests, and bounds the
// connections of one address.
//
// It promises:
//
//   - bounded: all bodies together, with everything made from them, stay within
//     the memory of the [Gate]; at most one arriving body and one retry exceed it.
//   - by what arrived: a body takes memory as its bytes come. A Content-Length
//     takes none, so idle sockets that declare large bodies hold nothing.
//   - no deadlock: of requests that hold a part and wait for more, one may always
//     go on.
//   - small first: small requests overtake large ones that wait, within a reserve.
//   - fair: a client that holds more than its share comes after all others. Alone,
//     a client has everything.
//   - no hostages: while others wait, a body that stalls gives way, and so do
//     bodies that are kept for a retry only, and work in the background.
//   - finite: no request waits longer than Gate.Wait.
//
// # How it works
//
// The memory has two parts. A body takes memory block by block from a quarter of
// it while it arrives. Once the body is complete, everything that editing costs is
// taken at once from the other three quarters. So nobody who holds memory for work
// waits for more of it, and among arriving bodies one may always exceed its part.
//
// Requests wait in the order in which they came. Requests that cost at most a 512th
// of the memory overtake, within a sixteenth that is reserved. While others wait for
// memory to arrive in, a body must bring 256 KiB/s after the first half second, or it
// is aborted. A client is its key if the proxy has client keys, else its address;
// X-Forwarded-For is not believed.
package admission

import (
	"context"
	"errors"
	"sync"
	"time"
)

// BodyCost is what a body costs in memory while it is edited, as a multiple of its
// bytes: the bytes, what is read out of them, the edited bytes, and garbage that is
// not collected yet. Measured: with it, and with the collector's limit set, 500
// bodies of 2 MB at once stay within the limit and 30 %.
const BodyCost = 4

// elementCost is what one message, part or call of a body costs while it is read
// and edited, in bytes: 600 were measured, the rest is garbage.
const elementCost = 1000

// Cost returns what a body of n bytes costs until it is sent. braces is how many {
// are in it: it has at most as many elements.
func Cost(n, braces int64) int64 { return max(BodyCost*n, 2*n+elementCost*braces) }

// ErrNoMemory is why a request got no memory, or lost it.
var ErrNoMemory = errors.New("memory for request bodies used up")

// Gate shares out the memory for request bodies. It is safe for concurrent use.
type Gate struct {
	// Wait is how long a request waits: a client that waits is better off than one that is
	// sent away and comes back, but not for ever. It may be changed before the gate is used.
	Wait time.Duration

	size        int64
	mu          sync.Mutex
	arrival     pool // for bodies that arrive
	work        pool // for complete bodies and what is made of them
	requests    int64
	arriving    map[*Reservation]struct{} // whose body is being received
	lastEvicted time.Time                 // when stalled bodies were looked for
	offers      []*Reservation            // that may be reclaimed, in that order
	coming      int64                     // what was reclaimed and is not free yet
}

// NewGate makes a gate of size bytes for bodies of at most body bytes each.
func NewGate(size, body int64) *Gate {
	over := min(body, size/8) // what one arriving body may take beyond its pool
	arrival := size/4 - over
	return &Gate{
		Wait:     15 * time.Second,
		size:     size,
		arrival:  newPool(arrival, arrival/4, size/4096),
		work:     newPool(size-size/4, size/16, size/512),
		arriving: map[*Reservation]struct{}{},
	}
}

// Reservation is what one request has of a gate's memory.
type Reservation struct {
	gate     *Gate
	received holding // of the pool for arrival
	held     holding // of the pool for work
	freed    bool

	// While the body arrives: where from, since when it may, and how much of it
	// was there at that time.
	source  Source
	since   time.Time
	already int64

	offer      func() bool
	background bool
	reclaimed  bool // held is in gate.coming
}

// Reserve makes a reservation, of nothing yet, for a request of client.
func (g *Gate) Reserve(client string) *Reservation {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests++
	return &Reservation{
		gate:     g,
		received: holding{pool: &g.arrival, client: client, seq: g.requests},
		held:     holding{pool: &g.work, client: client, seq: g.requests},
	}
}

// Receive takes memory for the first n bytes of a body that arrives, waiting until
// it is free.
func (r *Reservation) Receive(ctx context.Context, n int64) error {
	return r.acquire(ctx, &r.received, n)
}

// Acquire takes n bytes for a complete body, all at once. A body that is larger
// than all the memory counts as all of it, and goes alone. It takes back an offer.
func (r *Reservation) Acquire(ctx context.Context, n int64) error {
	work := &r.gate.work
	return r.acquire(ctx, &r.held, min(n, work.limit-work.reserve))
}

// Grow takes n bytes more for a body that was admitted, ahead of those that wait
// to be. It takes back an offer.
func (r *Reservation) Grow(ctx context.Context, n int64) error {
	r.gate.mu.Lock()
	n += r.held.n
	r.gate.mu.Unlock()
	return r.Acquire(ctx, n)
}

// acquire makes h as large as n bytes, waiting until that fits.
func (r *Reservation) acquire(ctx context.Context, h *holding, n int64) error {
	if ok, err := r.ask(h, n); ok || err != nil {
		return err
	}
	g := r.gate
	ctx, cancel := context.WithTimeoutCause(ctx, g.Wait, ErrNoMemory)
	defer cancel()
	tick := time.NewTicker(stallGrace / 4)
	defer tick.Stop()
	for {
		if h.pool == &g.arrival {
			g.evict()
		} else {
			g.reclaim()
		}
		select {
		case <-h.granted:
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		return r.granted(h, context.Cause(ctx))
	}
}

// ask makes h as large as n bytes if that fits, and reports whether it did. Else h
// waits.
func (r *Reservation) ask(h *holding, n int64) (bool, error) {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	if r.freed || r.reclaimed && h == &r.held {
		return false, ErrNoMemory
	}
	if h == &r.held {
		r.withdraw() // what is in use, or waits for more, is not reclaimed
	}
	if n > h.n {
		if h.pool.wait(h, n); h.want > 0 {
			return false, nil
		}
	}
	r.resume()
	return true, nil
}

// granted ends the wait of h. It returns nil if h got what it waited for, else err.
func (r *Reservation) granted(h *holding, err error) error {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	if h.want == 0 { // perhaps at the same moment
		r.resume()
		return nil
	}
	h.pool.withdraw(h)
	h.pool.serve() // those behind it may want less
	return err
}

// Received returns the memory of the arrival: the body is complete.
func (r *Reservation) Received() {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	r.shrink(&r.received, 0)
}

// Shrink returns all but n bytes of what is held for work.
func (r *Reservation) Shrink(n int64) {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	r.shrink(&r.held, n)
}

func (r *Reservation) shrink(h *holding, n int64) {
	if n >= h.n {
		return
	}
	if r.reclaimed && h == &r.held {
		r.gate.coming -= h.n - n
	}
	h.pool.set(h, n)
	h.pool.serve()
}

// Free returns all memory. It may be called more than once, and on nil.
func (r *Reservation) Free() {
	if r == nil {
		return
	}
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	r.freed = true
	r.withdraw()
	r.shrink(&r.received, 0)
	r.shrink(&r.held, 0)
}

// Stats is what a gate holds at one moment.
type Stats struct {
	Bytes, Limit         int64
	Arriving             int // bodies
	WaitToArrive, ToWork int // requests that wait for memory
}

// Stats returns what the gate holds.
func (g *Gate) Stats() (s Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.Limit = g.size
	s.Bytes = g.arrival.used + g.arrival.excess + g.work.used + g.work.excess
	s.Arriving, s.WaitToArrive, s.ToWork = len(g.arriving), len(g.arrival.waiting), len(g.work.waiting)
	return s
}
