package proxy

import (
	"container/list"
	"context"
	"sync"
)

// room is memory that is shared out, in bytes. Those who wait for some are
// served in turn, so that a large body is not starved by small ones. Who was
// admitted may take more before them: they wait for what it holds.
type room struct {
	mu      sync.Mutex
	free    int64
	wanted  int64     // by all who wait
	waiting list.List // of *claim, in their order
}

// claim is a place among those who wait.
type claim struct {
	n       int64
	granted chan struct{} // closed once n was taken for it
	at      *list.Element
}

// try takes n if that is free and nobody waits.
func (r *room) try(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting.Len() == 0 && r.take(n)
}

// more takes n if that is free, whoever waits.
func (r *room) more(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.take(n)
}

func (r *room) take(n int64) bool {
	if n > r.free {
		return false
	}
	r.free -= n
	return true
}

// give returns n.
func (r *room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += n
	r.serve()
}

// serve takes for those who wait what they want, as far as it is free.
func (r *room) serve() {
	for e := r.waiting.Front(); e != nil && r.take(e.Value.(*claim).n); e = r.waiting.Front() {
		c := r.waiting.Remove(e).(*claim)
		r.wanted -= c.n
		close(c.granted)
	}
}

// claim takes a place behind those who wait.
func (r *room) claim(n int64) *claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &claim{n: n, granted: make(chan struct{})}
	c.at = r.waiting.PushBack(c)
	r.wanted += n
	r.serve()
	return c
}

// wait waits until c is granted; else c is given up, and the error is the
// cause that ended ctx.
func (r *room) wait(ctx context.Context, c *claim) error {
	select {
	case <-c.granted:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-c.granted: // in the same moment
		return nil
	default:
	}
	r.waiting.Remove(c.at)
	r.wanted -= c.n
	r.serve() // those behind it may want less
	return context.Cause(ctx)
}

// lacks returns how much more would have to be free for n and for all who wait.
func (r *room) lacks(n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return n + r.wanted - r.free
}
