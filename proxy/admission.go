package proxy

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
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

// admissionWait is how long a request waits for memory. A client that waits is
// better off than one that is sent away and comes back, but not for ever.
const admissionWait = 5 * time.Second

var errNoMemory = errors.New("memory for request bodies used up")

// gate admits bodies while they fit into the memory set aside for them.
type gate struct {
	room room
	size int64
	wait time.Duration
	// lane is for one body at a time that turned out to need more than the
	// room has left. If several held a part and waited for the rest, they
	// would wait for each other.
	lane *semaphore.Weighted
	// spares are kept bodies that make room for others, and yielding are jobs
	// that do.
	spares   spares
	yielding yielding
}

func newGate(size int64) *gate {
	return &gate{room: room{free: size}, lane: semaphore.NewWeighted(1), size: size, wait: admissionWait}
}

// seat is the share of one request in the gate's room.
type seat struct {
	g *gate

	mu     sync.Mutex
	held   int64
	inLane bool
	freed  bool
}

func (g *gate) seat() *seat { return &seat{g: g} }

// hold makes the seat as large as n bytes, waiting for room. What is larger
// than all room there is counts as all of it: such a body goes alone.
func (s *seat) hold(ctx context.Context, n int64) error {
	more := min(n, s.g.size) - s.held
	if more <= 0 {
		return nil
	}
	if err := s.g.admit(ctx, more); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += more
	return nil
}

// admit takes n of the memory, waiting for it as long as a request may wait.
func (g *gate) admit(ctx context.Context, n int64) error {
	if g.room.try(n) {
		return nil
	}
	c := g.room.claim(n)
	g.makeRoom(n, 0)
	ctx, cancel := g.waiting(ctx)
	defer cancel()
	return g.room.wait(ctx, c)
}

// waiting bounds how long a request waits.
func (g *gate) waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, g.wait, errNoMemory)
}

// tryHold makes the seat as large as n bytes if there is room at once.
func (s *seat) tryHold(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	more := min(n, s.g.size) - s.held
	if more > 0 && !s.g.room.try(more) {
		return false
	}
	s.held += max(0, more)
	return true
}

// holdElements makes the seat large enough for what will be read out of a
// body. Objects are counted by their braces: there may be fewer, never more.
func (s *seat) holdElements(ctx context.Context, body []byte) error {
	n := 2*int64(len(body)) + elementCost*int64(bytes.Count(body, []byte("{")))
	more := min(n, s.g.size) - s.held
	if more <= 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grow(ctx, more, s.g.tryRoom)
}

// grow makes the seat larger by what the room gives at once, else by a place in
// the lane. The seat is locked.
func (s *seat) grow(ctx context.Context, more int64, room func(n int64) bool) error {
	if room(more) {
		s.held += more
		return nil
	}
	ctx, cancel := s.g.waiting(ctx)
	defer cancel()
	if s.g.lane.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	s.inLane = true
	return nil
}

// shrink gives back all but n bytes.
func (s *seat) shrink(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveLane()
	if less := s.held - n; less > 0 && !s.freed {
		s.held = n
		s.g.room.give(less)
	}
}

// size is what the seat has of the room.
func (s *seat) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

func (s *seat) leaveLane() {
	if s.inLane {
		s.inLane = false
		s.g.lane.Release(1)
	}
}

// free gives everything back. It may be called twice.
func (s *seat) free() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveLane()
	if !s.freed {
		s.freed = true
		s.g.room.give(s.held)
	}
}

func noMemory() *refusal {
	return &refusal{
		Status: http.StatusServiceUnavailable, Code: codeOverloaded, RetryAfter: time.Second, Close: true,
		Message: "The proxy holds as many request bodies as its memory allows.", Hint: "Try again in a moment.",
	}
}
