package proxy

import "sync"

// yielding is work that nobody waits for. It has memory for as long as nobody
// else wants it, and needs a moment to give it back.
type yielding struct {
	mu  sync.Mutex
	all []*yielder // oldest first
}

// yielder is one such work. stop ends it, and tells whether it did: by now
// somebody may wait for it.
type yielder struct {
	size int64
	stop func() bool
}

func (y *yielding) add(one *yielder) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.all = append(y.all, one)
}

func (y *yielding) remove(one *yielder) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for i, other := range y.all {
		if other == one {
			y.all = append(y.all[:i], y.all[i+1:]...)
			return
		}
	}
}

// stop ends the oldest until n bytes will come free, or all were asked.
func (y *yielding) stop(n int64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	kept := y.all[:0]
	for _, one := range y.all {
		if n > 0 && one.stop() {
			n -= one.size
		} else {
			kept = append(kept, one)
		}
	}
	clear(y.all[len(kept):])
	y.all = kept
}
