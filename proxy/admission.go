package proxy

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"laconic/proxy/apierror"
)

// bodyCost is what a body of n bytes costs in memory while it is edited: the
// bytes, what is read out of them, the edited bytes, and what the garbage
// collector has not taken yet of earlier ones. It was measured: with it, and
// with the collector told of Limits.Process, 500 bodies of 2 MB at once stay
// within Limits.Memory and 30 %.
const bodyCost = 4

// elementCost is what one message, part or call of a body costs while it is
// read and edited, in bytes: 600 were measured, garbage is the rest. A body of
// very many very small messages takes far more than bodyCost says.
const elementCost = 1000

// costOfBody is what a body of n bytes costs until it is sent. Its elements are
// counted by their braces: there may be fewer, never more.
func costOfBody(n, braces int64) int64 { return max(bodyCost*n, 2*n+elementCost*braces) }

// admissionWait is how long a request waits for memory. A client that waits is
// better off than one that is sent away and comes back, but not for ever.
const admissionWait = 15 * time.Second

// While requests wait for the memory of bodies that arrive, those must arrive
// at no less than hurriedRate bytes per second, after hurriedGrace.
const (
	hurriedGrace = 500 * time.Millisecond
	hurriedRate  = 256 << 10
)

var errNoMemory = errors.New("memory for request bodies used up")

// gate shares out the memory for request bodies.
//
// A body takes memory of the room for arrival block by block, as its bytes
// come. Once it is complete, and what it costs is known, it takes all of that
// at once from the room for work. So requests cannot wait for each other: who
// holds some of the second room waits for nothing, and in the first one body at
// a time may go on where nothing is free.
type gate struct {
	mu      sync.Mutex
	arrival room
	work    room
	// arriving are those whose body is being received.
	arriving map[*seat]struct{}
	turns    atomic.Int64 // of the seats that there were
	hurried  time.Time    // when it was looked for bodies to end

	size int64
	wait time.Duration
	// again is for one kept body at a time that is read once more although
	// nothing is free: if several held a part and waited for the rest, they
	// would wait for each other.
	again *semaphore.Weighted
	// decoding is for those who decompress a body, a slice of it at a time, so
	// that they leave processors to others.
	decoding *semaphore.Weighted
	// spares are kept bodies that make room for others, and yielding are jobs
	// that do.
	spares   spares
	yielding yielding
}

// newGate makes a gate of size bytes for bodies of at most body bytes each.
func newGate(size, body int64) *gate {
	beyond := min(body, size/8) // what the body takes that goes on where nothing is free
	g := &gate{
		arrival:  newRoom(size/4-beyond, (size/4-beyond)/4, size/4096),
		work:     newRoom(size-size/4, size/16, size/512),
		arriving: map[*seat]struct{}{},
		size:     size, wait: admissionWait,
		again:    semaphore.NewWeighted(1),
		decoding: semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2))),
	}
	g.arrival.oneBeyond = true
	return g
}

// seat is what one request has of the gate's memory. The gate's lock guards it.
type seat struct {
	g        *gate
	received holding // of the room for arrival
	held     holding // of the room for work
	again    bool
	freed    bool

	// While the body arrives: from what, since when it may, with how much of it
	// there at that time. It is not arriving while the request waits for memory.
	from    arriving
	waits   bool
	since   time.Time
	already int64
}

// arriving is a body that is being received.
type arriving interface {
	count() int64 // of its bytes that came
	giveWay()     // others need the memory: no more is read
}

// seat makes one for a request of a client.
func (g *gate) seat(client string) *seat {
	turn := g.turns.Add(1)
	return &seat{
		g:        g,
		received: holding{room: &g.arrival, client: client, turn: turn},
		held:     holding{room: &g.work, client: client, turn: turn},
	}
}

// arrive notes that the body of s is being received, until the returned function
// is called.
func (s *seat) arrive(from arriving) (done func()) {
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	s.from = from
	s.goesOn()
	g.arriving[s] = struct{}{}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.arriving, s)
	}
}

// receive takes memory for the first n bytes of a body that arrives.
func (s *seat) receive(ctx context.Context, n int64) error { return s.make(ctx, &s.received, n) }

// hold takes n bytes for a body that is complete, all at once. What is larger
// than all the memory there is counts as all of it: such a body goes alone.
func (s *seat) hold(ctx context.Context, n int64) error {
	return s.make(ctx, &s.held, min(n, s.g.work.most-s.g.work.reserve))
}

// make makes a holding as large as n bytes, waiting until that fits.
func (s *seat) make(ctx context.Context, h *holding, n int64) error {
	g := s.g
	c := s.ask(h, n)
	if c == nil {
		return nil
	}
	if h.room == &g.work {
		g.makeRoom(n)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.wait, errNoMemory)
	defer cancel()
	tick := time.NewTicker(hurriedGrace / 4)
	defer tick.Stop()
	for {
		if h.room == &g.arrival {
			g.hurry()
		}
		select {
		case <-c.granted:
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		return s.answered(c, context.Cause(ctx))
	}
}

// ask makes a holding as large as n bytes if that fits; else it returns the
// claim to wait for.
func (s *seat) ask(h *holding, n int64) *claim {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	if n <= h.n || h.room.try(h, n) {
		s.goesOn()
		return nil
	}
	s.waits = true
	return h.room.claim(h, n, time.Now())
}

// answered ends the wait for a claim: it was granted, or err is why it will not be.
func (s *seat) answered(c *claim, err error) error {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	select {
	case <-c.granted: // maybe in the same moment
		s.goesOn()
		return nil
	default:
	}
	c.h.room.withdraw(c)
	c.h.room.serve() // those behind it may want less
	return err
}

// goesOn notes that the body may arrive from now on.
func (s *seat) goesOn() {
	s.waits = false
	if s.from != nil {
		s.since, s.already = time.Now(), s.from.count()
	}
}

// stalls reports whether the body arrives too slowly to keep its memory while
// others wait for it.
func (s *seat) stalls() bool {
	late := time.Since(s.since) - hurriedGrace
	return !s.waits && late > 0 && s.from.count()-s.already < int64(late.Seconds()*hurriedRate)+1
}

// tryHold is hold where that needs no waiting.
func (s *seat) tryHold(n int64) bool {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return n <= s.held.n || s.g.work.try(&s.held, n)
}

// holdAgain makes room for reading a kept body once more.
func (s *seat) holdAgain(ctx context.Context, body []byte) error {
	n := costOfBody(int64(len(body)), int64(bytes.Count(body, []byte("{")))) - int64(len(body))
	if ok, err := s.grow(n); ok || err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.g.wait, errNoMemory)
	defer cancel()
	if s.g.again.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.again = true
	return nil
}

// grow takes n bytes more for work if they are free, whoever waits.
func (s *seat) grow(n int64) (ok bool, err error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	r := &s.g.work
	n = min(s.held.n+n, r.most-r.reserve)
	switch {
	case s.freed:
		return false, errNoMemory
	case n > s.held.n && !r.fits(&s.held, n):
		return false, nil
	case n > s.held.n:
		r.set(&s.held, n)
	}
	return true, nil
}

// arrived returns the memory of the room for arrival: hold was told what the
// complete body costs.
func (s *seat) arrived() {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.give(&s.received, 0)
}

// shrink gives back all but n bytes of what is held for work.
func (s *seat) shrink(n int64) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.give(&s.held, n)
}

// give makes a holding as small as n bytes. The gate is locked.
func (s *seat) give(h *holding, n int64) {
	if h == &s.held && s.again {
		s.again = false
		s.g.again.Release(1)
	}
	if h.n > n {
		h.room.set(h, n)
		h.room.serve()
	}
}

// size is what the seat has of the room for work.
func (s *seat) size() int64 {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.held.n
}

// free gives everything back. It may be called twice.
func (s *seat) free() {
	if s == nil {
		return
	}
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.freed = true
	s.give(&s.received, 0)
	s.give(&s.held, 0)
}

// lacks returns how much memory for work has to become free until nobody waits
// for it any more.
func (g *gate) lacks() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.work.lacks()
}

// hurry ends the arrival of bodies that came too slowly to keep their memory
// while others wait for it, and where a client within its share has waited for
// long, of those of clients that hold more than theirs: the largest first.
func (g *gate) hurry() {
	for _, s := range g.tooMuch(time.Now()) {
		s.from.giveWay()
	}
}

// tooMuch returns those whose arrival is to end. All who wait ask for it, and
// thousands may: it looks for all of them together, and now and then.
func (g *gate) tooMuch(now time.Time) (all []*seat) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.hurried) < hurriedGrace/8 {
		return nil
	}
	g.hurried = now
	lacking := g.arrival.lacks()
	end := func(s *seat) {
		delete(g.arriving, s)
		lacking -= s.received.n
		all = append(all, s)
	}
	for s := range g.arriving {
		if lacking > 0 && s.stalls() {
			end(s)
		}
	}
	if lacking <= 0 || !g.arrival.waitsLong(now.Add(-hurriedGrace)) {
		return all
	}
	for lacking > 0 {
		var largest *seat
		for s := range g.arriving {
			if !s.waits && g.arrival.overShare(s.received.client) && (largest == nil || s.received.n > largest.received.n) {
				largest = s
			}
		}
		if largest == nil {
			break
		}
		end(largest)
	}
	return all
}

func noMemory() *apierror.Error {
	return &apierror.Error{
		Status: http.StatusServiceUnavailable, Code: apierror.CodeOverloaded, RetryAfter: time.Second, Close: true,
		Message: "The proxy holds as many request bodies as its memory allows.", Hint: "Try again in a moment.",
	}
}
