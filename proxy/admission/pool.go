package admission

import (
	"cmp"
	"slices"
	"time"
)

// pool is an amount of memory that requests share, in bytes. Memory that is free goes
// to the oldest request that waits, except:
//
//   - A client that holds more than its share comes after all others. Its share is
//     the pool divided by the clients that hold some or wait; alone, a client has
//     the whole pool.
//   - Small requests do not wait for large ones, and a part of the pool is reserved
//     for them. While a large request waits they get no more than that part.
//   - A request that holds some already does not wait for those that hold none. One
//     such request at a time may exceed the pool, or one alone in it, so requests that
//     hold a part and need more never wait for each other.
//
// All methods need the lock of the Gate.
type pool struct {
	limit     int64
	reserve   int64 // of limit, for small requests
	mostSmall int64 // the largest holding of a small request

	used, small int64            // held by all requests, and by the small ones
	over        *holding         // the one that exceeds the pool; nil: none does
	excess      int64            // by how much; not counted in used
	clients     map[string]int64 // what those hold that hold some or wait
	waiting     []*holding       // the oldest request first
}

// holding is what one request has of a pool, and what it waits for.
type holding struct {
	pool   *pool
	client string
	seq    int64 // of the request: an older one has a smaller
	n      int64
	small  bool // counted in pool.small

	want    int64         // while it waits: the n that it waits for
	since   time.Time     // it waits
	granted chan struct{} // closed once it has what it wants
}

func newPool(limit, reserve, mostSmall int64) pool {
	return pool{limit: limit, reserve: reserve, mostSmall: mostSmall, clients: map[string]int64{}}
}

func (p *pool) isSmall(n int64) bool { return n <= p.mostSmall }

// within reports whether h may become n bytes without exceeding the pool.
func (p *pool) within(h *holding, n int64) bool {
	more, small := n-h.n, p.small
	if h.small {
		small -= h.n
	}
	switch {
	case p.used+more > p.limit:
		return false
	case p.isSmall(n):
		return small+n <= p.reserve || !slices.ContainsFunc(p.waiting, func(h *holding) bool { return !p.isSmall(h.want) })
	}
	return p.used+more-small <= p.limit-p.reserve
}

// set makes h as large as n bytes. Memory that becomes free is not shared out yet.
func (p *pool) set(h *holding, n int64) {
	more, before := n-h.n, p.excess
	if more > 0 && !p.within(h, n) {
		p.over = h
	}
	if h.small {
		p.small -= h.n
	}
	if h == p.over {
		if p.excess = max(0, before+more); p.excess == 0 {
			p.over = nil
		}
	}
	h.small = h != p.over && p.isSmall(n) && (more > 0 || h.small) // a large request that shrinks stays large
	if h.small {
		p.small += n
	}
	h.n = n
	p.used += more - (p.excess - before)
	p.account(h.client, more)
}

// account adds to what a client holds.
func (p *pool) account(client string, more int64) {
	p.clients[client] += more
	if p.clients[client] == 0 && !slices.ContainsFunc(p.waiting, func(w *holding) bool { return w.client == client }) {
		delete(p.clients, client)
	}
}

// overShare reports whether a client holds more than its share.
func (p *pool) overShare(client string) bool {
	return p.clients[client] > p.limit/int64(max(1, len(p.clients)))
}

// wait has h wait until it gets n bytes, which may be at once.
func (p *pool) wait(h *holding, n int64) {
	if h.small && !p.isSmall(n) { // it takes nothing of the reserve while it waits
		h.small = false
		p.small -= h.n
	}
	h.want, h.since, h.granted = n, time.Now(), make(chan struct{})
	at, _ := slices.BinarySearchFunc(p.waiting, h.seq, func(w *holding, seq int64) int { return cmp.Compare(w.seq, seq) })
	p.waiting = slices.Insert(p.waiting, at, h)
	p.account(h.client, 0)
	p.serve()
}

// withdraw ends the wait of h.
func (p *pool) withdraw(h *holding) {
	p.waiting = slices.DeleteFunc(p.waiting, func(w *holding) bool { return w == h })
	p.account(h.client, 0)
	h.want = 0
}

// serve grants memory as long as the next request fits.
func (p *pool) serve() {
	for h := p.next(); h != nil; h = p.next() {
		p.set(h, h.want)
		p.withdraw(h)
		close(h.granted)
	}
}

// next returns the request that gets memory next, or nil.
func (p *pool) next() *holding {
	largeWaits := false // one whose turn it is
	for _, over := range []bool{false, true} {
		for _, h := range p.waiting {
			if p.overShare(h.client) != over {
				continue
			}
			inTurn := h.n == 0 && !p.isSmall(h.want)
			mayExceed := (h.n > 0 || p.used == 0) && (p.over == nil || p.over == h)
			if (!inTurn || !largeWaits) && (mayExceed || p.within(h, h.want)) {
				return h
			}
			largeWaits = largeWaits || inTurn
		}
	}
	return nil
}

// lacks returns how much has to become free until nobody waits any more; 0 if
// nobody does.
func (p *pool) lacks() int64 {
	if len(p.waiting) == 0 {
		return 0
	}
	all, large := p.used-p.limit, p.used-p.small-(p.limit-p.reserve)
	for _, h := range p.waiting {
		all += h.want - h.n
		if !p.isSmall(h.want) {
			large += h.want - h.n
		}
	}
	return max(0, all, large)
}
