package proxy

import (
	"slices"
	"sync"
)

// yielding are the jobs in the background. They have memory for as long as
// nobody else wants it, and need a moment to give it back.
type yielding struct {
	mu  sync.Mutex
	all []*job // oldest first
}

func (y *yielding) add(j *job) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.all = append(y.all, j)
}

func (y *yielding) remove(j *job) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.all = slices.DeleteFunc(y.all, func(other *job) bool { return other == j })
}

// stop ends the oldest until n bytes will come free, or all were asked.
func (y *yielding) stop(n int64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.all = slices.DeleteFunc(y.all, func(j *job) bool {
		held := j.seat.size() // before it ends: it may be giving some back
		if n <= 0 || !j.yield() {
			return false
		}
		n -= held
		return true
	})
}
