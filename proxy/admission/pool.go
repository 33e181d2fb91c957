package admission

import (
	"slices"
	"time"
)

// pool is an amount of memory that requests share, in bytes. What is free goes to
// the oldest request that waits, except:
//
//   - Small requests overtake large ones, the smallest first. A part of the pool
//     is reserved for them; while a large request waits they get no more than
//     that part. They leave some of it to smaller ones.
//   - A client that holds more than its share comes after all others. Its share is
//     the pool divided by the clients that hold some or wait; alone, a client has
//     the whole pool.
//   - One request at a time may exceed the pool, so that requests which hold a
//     part and need more never wait for each other.
//
// All methods need the lock of the Gate.
type pool struct {
	limit     int64
	reserve   int64 // of limit, for small requests
	mostSmall int64 // the largest holding of a small request
	// holdersFirst: only a request that holds some already may exceed the pool, and
	// it goes before those that hold none. Else any may.
	holdersFirst bool

	small, large int64    // held by small requests, and by the others
	over         *holding // the one that exceeds the pool
	excess       int64    // by how much; not counted in small or large
	clients      map[string]*account
	waiting      []*holding // the oldest request first
}

// leaves is what a small request leaves to smaller ones, as a multiple of itself.
const leaves = 8

// account is what one client has of a pool.
type account struct {
	held    int64
	waiting int // requests
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
	return pool{limit: limit, reserve: reserve, mostSmall: mostSmall, clients: map[string]*account{}}
}

// atMost returns n, or what a large request may have at most.
func (p *pool) atMost(n int64) int64 { return min(n, p.limit-p.reserve) }

func (p *pool) isSmall(n int64) bool { return n <= p.mostSmall }

// within reports whether h may become n bytes without exceeding the pool.
func (p *pool) within(h *holding, n int64) bool {
	more := n - h.n
	if p.isSmall(n) {
		more += leaves * n
		return p.small+p.large+more <= p.limit && (p.small+more <= p.reserve || !p.largeWaits())
	}
	large := p.large + more
	if h.small {
		large += p.counted(h)
	}
	return p.small+p.large+more <= p.limit && large <= p.limit-p.reserve
}

// mayExceed reports whether h may become n bytes although the pool has less.
func (p *pool) mayExceed(h *holding, n int64) bool {
	switch {
	case h == p.over:
		return true
	case p.over != nil:
		return false
	case p.holdersFirst:
		return h.n > 0
	}
	return !p.isSmall(n) || !p.largeWaits()
}

func (p *pool) fits(h *holding, n int64) bool { return p.within(h, n) || p.mayExceed(h, n) }

func (p *pool) largeWaits() bool {
	return slices.ContainsFunc(p.waiting, func(h *holding) bool { return !p.isSmall(h.want) })
}

// set makes h as large as n bytes. What becomes free is not shared out yet.
func (p *pool) set(h *holding, n int64) {
	more, exceeds := n-h.n, n > h.n && !p.within(h, n)
	p.count(h, -1)
	if more > 0 || n == 0 {
		h.small = p.isSmall(n) // a small request that shrinks stays small, a large one large
	}
	h.n = n
	if exceeds {
		p.over = h
	}
	if exceeds || h == p.over && more < 0 {
		p.excess = max(0, p.excess+more)
	}
	if p.excess == 0 {
		p.over = nil
	}
	p.count(h, 1)
	p.account(h.client, more, 0)
}

// counted returns how much of h is counted in small or large.
func (p *pool) counted(h *holding) int64 {
	if h == p.over {
		return h.n - p.excess
	}
	return h.n
}

// count adds h to what is in use, or takes it out of that.
func (p *pool) count(h *holding, sign int64) {
	if h.small {
		p.small += sign * p.counted(h)
	} else {
		p.large += sign * p.counted(h)
	}
}

// account adds to what a client has.
func (p *pool) account(client string, held int64, waiting int) {
	a := p.clients[client]
	if a == nil {
		a = &account{}
		p.clients[client] = a
	}
	a.held += held
	if a.waiting += waiting; a.held == 0 && a.waiting == 0 {
		delete(p.clients, client)
	}
}

// overShare reports whether a client holds more than its share.
func (p *pool) overShare(client string) bool {
	a := p.clients[client]
	return a != nil && a.held > p.limit/int64(len(p.clients))
}

// try makes h as large as n bytes if that fits and nobody waits who comes first.
func (p *pool) try(h *holding, n int64) bool {
	if !p.fits(h, n) || h != p.over && p.comesAfter(h, n) {
		return false
	}
	p.set(h, n)
	return true
}

// comesAfter reports whether somebody waits who is served before h gets n bytes.
func (p *pool) comesAfter(h *holding, n int64) bool {
	if p.holdersFirst && h.n > 0 {
		return false
	}
	return slices.ContainsFunc(p.waiting, func(w *holding) bool {
		return w.seq < h.seq && (!p.isSmall(n) || p.isSmall(w.want))
	})
}

// wait has h wait until it gets n bytes.
func (p *pool) wait(h *holding, n int64, now time.Time) {
	if h.small && !p.isSmall(n) {
		// What waits to become large takes nothing of the reserve.
		p.count(h, -1)
		h.small = false
		p.count(h, 1)
	}
	h.want, h.since, h.granted = n, now, make(chan struct{})
	i := len(p.waiting)
	for i > 0 && p.waiting[i-1].seq > h.seq {
		i--
	}
	p.waiting = slices.Insert(p.waiting, i, h)
	p.account(h.client, 0, 1)
	p.serve()
}

// withdraw ends the wait of h.
func (p *pool) withdraw(h *holding) {
	i := slices.Index(p.waiting, h)
	p.waiting = slices.Delete(p.waiting, i, i+1)
	p.account(h.client, 0, -1)
	h.want = 0
}

// serve grants memory as long as the next request fits: the oldest that holds
// some, if those come first, or else the next of the small ones, or else of the
// large ones.
func (p *pool) serve() {
	for {
		h := p.nextHolder()
		if h == nil {
			h = p.next(true)
		}
		if h == nil || !p.fits(h, h.want) {
			if h = p.next(false); h == nil || !p.fits(h, h.want) {
				return
			}
		}
		p.set(h, h.want)
		p.withdraw(h)
		close(h.granted)
	}
}

// nextHolder returns the oldest request that holds memory, waits for more and
// fits. It returns nil if no request does, or if holders do not come first.
func (p *pool) nextHolder() *holding {
	i := slices.IndexFunc(p.waiting, func(h *holding) bool { return p.holdersFirst && h.n > 0 && p.fits(h, h.want) })
	if i < 0 {
		return nil
	}
	return p.waiting[i]
}

// next returns the smallest of the small requests that wait, or the oldest of the
// large ones. Those of clients within their share come first.
func (p *pool) next(small bool) (next *holding) {
	over := true
	for _, h := range p.waiting {
		if p.isSmall(h.want) != small || p.overShare(h.client) && !over {
			continue
		}
		within := !p.overShare(h.client)
		if next == nil || within && over || small && h.want < next.want {
			next, over = h, !within
		}
	}
	return next
}

// lacks returns how much has to become free until nobody waits any more; 0 if
// nobody does.
func (p *pool) lacks() int64 {
	if len(p.waiting) == 0 {
		return 0
	}
	all, large, left := p.small+p.large, p.large, int64(0)
	for _, h := range p.waiting {
		all += h.want - h.n
		if p.isSmall(h.want) {
			left = max(left, leaves*h.want)
		} else {
			large += h.want - h.n
		}
	}
	return max(0, all+left-p.limit, large-(p.limit-p.reserve))
}

// waitsLong reports whether a client within its share has waited since before
// then.
func (p *pool) waitsLong(then time.Time) bool {
	return slices.ContainsFunc(p.waiting, func(h *holding) bool { return !h.since.After(then) && !p.overShare(h.client) })
}
