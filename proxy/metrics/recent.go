package metrics

import (
	"sync"

	"laconic/proxy"
)

// mostRecent is how many answers half of the newest ones are.
const mostRecent = 64

// recent sums the usage of the newest answers of each outcome: of as many as
// mostRecent at least, once there were so many, and of less than twice as many. A
// fall shows in it that a sum over the whole life of a process hides. Two sums for
// each outcome are all that it holds.
type recent struct {
	mu  sync.Mutex
	all map[proxy.Outcome]*halves
}

// halves are the newest answers and those before them, which are forgotten when
// there are new ones enough.
type halves struct{ newest, before usage }

type usage struct{ answers, prompt, cached int }

func (r *recent) add(o proxy.Outcome, prompt, cached int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.all[o]
	if h == nil {
		h = &halves{}
		r.all[o] = h
	}
	if h.newest.answers == mostRecent {
		h.before, h.newest = h.newest, usage{}
	}
	h.newest.answers++
	h.newest.prompt += prompt
	h.newest.cached += cached
}

// each calls f with the sums of every outcome that there was.
func (r *recent) each(f func(o proxy.Outcome, prompt, cached int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for o, h := range r.all {
		f(o, h.before.prompt+h.newest.prompt, h.before.cached+h.newest.cached)
	}
}
