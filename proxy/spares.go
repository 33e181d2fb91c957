package proxy

import (
	"container/list"
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

// makeRoom lets go of kept bodies while there is not enough for those who wait.
// Where that is not enough either, work in the background is ended that holds n:
// its memory comes free a little later.
func (g *gate) makeRoom(n int64) {
	for {
		lacking := g.lacks()
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
