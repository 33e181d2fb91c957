package proxy

import (
	"bytes"
	"container/list"
	"context"
	"sync"
)

// spares are bodies that were sent and are kept in case they have to be sent
// again. They take memory that nobody else wants: while somebody does, none is
// added, and the oldest are let go as far as that is needed. Their requests then
// cannot be sent again, nothing worse.
type spares struct {
	mu  sync.Mutex
	all list.List // of *outgoing, oldest first
}

func (s *spares) add(b *outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.spare == nil {
		b.spare = s.all.PushBack(b)
	}
}

func (s *spares) remove(b *outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.spare != nil {
		s.all.Remove(b.spare)
		b.spare = nil
	}
}

func (s *spares) oldest() *outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.all.Front(); e != nil {
		return e.Value.(*outgoing)
	}
	return nil
}

// tryRoom takes n of the gate's memory for a body that was admitted, if there is
// that much or can be made.
func (g *gate) tryRoom(n int64) bool {
	if g.room.more(n) {
		return true
	}
	g.makeRoom(n, n)
	return g.room.more(n)
}

// makeRoom lets go of kept bodies while there is not enough for those who wait
// and for unclaimed besides. Where that is not enough either, work in the
// background is ended that holds n: its room comes free a little later.
func (g *gate) makeRoom(n, unclaimed int64) {
	for {
		lacking := g.room.lacks(unclaimed)
		if lacking <= 0 {
			return
		}
		b := g.spares.oldest()
		if b == nil {
			g.yielding.stop(min(n, lacking))
			return
		}
		b.release()
	}
}

// holdAgain makes the seat large enough for reading a kept body once more.
func (s *seat) holdAgain(ctx context.Context, body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.freed {
		return errNoMemory
	}
	n := (bodyCost-1)*int64(len(body)) + elementCost*int64(bytes.Count(body, []byte("{")))
	return s.grow(ctx, min(s.held+n, s.g.size)-s.held, s.g.room.more)
}
