package proxy

import (
	"slices"
	"time"
)

// room is memory that is shared out to request bodies, in bytes. What is free
// goes to the oldest request that waits for some, except:
//
//   - Small requests pass large ones, the smallest first. A part of the room is
//     reserved for them, and as long as a large one waits they get no more than
//     that part. They leave some of it to smaller ones.
//   - A client that holds more than its share comes after all others. Its share
//     is the room divided by the clients that hold some or wait; alone, a client
//     has the whole room.
//
// The gate's lock is held in all methods.
type room struct {
	most    int64
	reserve int64 // of it, for small requests
	// mostSmall is what a small request takes at most.
	mostSmall int64
	small     int64 // held by small requests
	large     int64 // held by the others
	clients   map[string]*standing
	waiting   []*claim // the oldest request first

	// oneBeyond lets one holding at a time grow beyond the room: a small one only
	// while no large one waits. It is beyond, and not counted in small or large.
	oneBeyond bool
	beyond    *holding
}

// leaves is what a small request leaves to smaller ones, as a multiple of itself.
const leaves = 8

// standing is what one client has of a room.
type standing struct {
	held    int64
	waiting int // claims
}

// holding is what one request has of a room.
type holding struct {
	room   *room
	client string
	turn   int64 // of the request: an older one has a smaller
	n      int64
	small  bool
}

// claim is a request that waits for its holding to become n bytes.
type claim struct {
	h       *holding
	n       int64
	more    int64         // of these it does not hold yet
	since   time.Time     // it waits
	granted chan struct{} // closed once it was
}

func newRoom(most, reserve, mostSmall int64) room {
	return room{most: most, reserve: reserve, mostSmall: mostSmall, clients: map[string]*standing{}}
}

// isSmall reports whether a holding of n bytes is that of a small request.
func (r *room) isSmall(n int64) bool { return n <= r.mostSmall }

// fits reports whether h may become n bytes now.
func (r *room) fits(h *holding, n int64) bool {
	return h == r.beyond || r.within(h, n) || r.oneBeyond && r.beyond == nil && !(r.isSmall(n) && r.largeWaits())
}

// within reports whether h may become n bytes without going beyond the room.
func (r *room) within(h *holding, n int64) bool {
	more := n - h.n
	switch {
	case r.isSmall(n):
		more += leaves * n
		return r.small+r.large+more <= r.most && (r.small+more <= r.reserve || !r.largeWaits())
	case h.small:
		return r.small+r.large+more <= r.most && r.large+n <= r.most-r.reserve
	}
	return r.small+r.large+more <= r.most && r.large+more <= r.most-r.reserve
}

func (r *room) largeWaits() bool {
	return slices.ContainsFunc(r.waiting, func(c *claim) bool { return !r.isSmall(c.n) })
}

// set makes h as large as n bytes. What becomes free is not shared out yet.
func (r *room) set(h *holding, n int64) {
	s := r.of(h.client)
	s.held += n - h.n
	beyond := h == r.beyond || n > h.n && r.oneBeyond && r.beyond == nil && !r.within(h, n)
	switch {
	case h == r.beyond:
	case h.small:
		r.small -= h.n
	default:
		r.large -= h.n
	}
	if n > h.n || n == 0 {
		h.small = r.isSmall(n) // one that shrinks stays what it was
	}
	switch h.n = n; {
	case beyond && n == 0:
		r.beyond = nil
	case beyond:
		r.beyond = h
	case h.small:
		r.small += n
	default:
		r.large += n
	}
	r.forget(h.client, s)
}

// of returns what a client has of the room.
func (r *room) of(client string) *standing {
	s := r.clients[client]
	if s == nil {
		s = &standing{}
		r.clients[client] = s
	}
	return s
}

func (r *room) forget(client string, s *standing) {
	if s.held == 0 && s.waiting == 0 {
		delete(r.clients, client)
	}
}

// overShare reports whether a client holds more than its share.
func (r *room) overShare(client string) bool {
	s := r.clients[client]
	return s != nil && s.held > r.most/int64(len(r.clients))
}

// try makes h as large as n bytes if that fits, and if nobody waits who would
// come before.
func (r *room) try(h *holding, n int64) bool {
	if !r.fits(h, n) || h != r.beyond && r.comesAfter(h, n) {
		return false
	}
	r.set(h, n)
	return true
}

// comesAfter reports whether a claim of n bytes for h would come after one that
// waits.
func (r *room) comesAfter(h *holding, n int64) bool {
	return slices.ContainsFunc(r.waiting, func(c *claim) bool {
		return c.h.turn < h.turn && (!r.isSmall(n) || r.isSmall(c.n))
	})
}

// claim has h wait until it is n bytes. What waits to become large takes nothing
// of what is reserved for small requests.
func (r *room) claim(h *holding, n int64, now time.Time) *claim {
	if h.small && !r.isSmall(n) {
		h.small = false
		r.small -= h.n
		r.large += h.n
	}
	c := &claim{h: h, n: n, more: n - h.n, since: now, granted: make(chan struct{})}
	i := len(r.waiting)
	for i > 0 && r.waiting[i-1].h.turn > h.turn {
		i--
	}
	r.waiting = slices.Insert(r.waiting, i, c)
	r.of(h.client).waiting++
	r.serve()
	return c
}

// withdraw ends the wait of c.
func (r *room) withdraw(c *claim) {
	i := slices.Index(r.waiting, c)
	r.waiting = slices.Delete(r.waiting, i, i+1)
	s := r.of(c.h.client)
	s.waiting--
	r.forget(c.h.client, s)
}

// serve grants claims as long as the next fits: of the small ones, or else of
// the large ones.
func (r *room) serve() {
	for {
		c := r.next(true)
		if c == nil || !r.fits(c.h, c.n) {
			if c = r.next(false); c == nil || !r.fits(c.h, c.n) {
				return
			}
		}
		r.set(c.h, c.n)
		r.withdraw(c)
		close(c.granted)
	}
}

// next returns the smallest of the small claims, or the first of the large ones:
// those of clients within their share come before all others.
func (r *room) next(small bool) (next *claim) {
	over := true
	for _, c := range r.waiting {
		if r.isSmall(c.n) != small || r.overShare(c.h.client) && !over {
			continue
		}
		within := !r.overShare(c.h.client)
		if next == nil || within && over || small && c.n < next.n {
			next, over = c, !within
		}
	}
	return next
}

// lacks returns how much has to become free until nobody waits any more; 0 if
// nobody does.
func (r *room) lacks() int64 {
	if len(r.waiting) == 0 {
		return 0
	}
	all, large, left := r.small+r.large, r.large, int64(0)
	for _, c := range r.waiting {
		all += c.more
		if r.isSmall(c.n) {
			left = max(left, leaves*c.n)
		} else {
			large += c.more
		}
	}
	return max(0, all+left-r.most, large-(r.most-r.reserve))
}

// waitsLong reports whether a client within its share has waited since before
// then.
func (r *room) waitsLong(then time.Time) bool {
	return slices.ContainsFunc(r.waiting, func(c *claim) bool { return !c.since.After(then) && !r.overShare(c.h.client) })
}
