package operate

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"laconic/proxy/why"
)

// Cut is counted beside the outcome of a request whose answer shows that the upstream
// read less than it was sent.
const Cut = "cut"

// Outcome is how many chat requests ended in one way, and why the last did.
type Outcome struct {
	Outcome  string // of the proxy, or Cut
	Requests int
	Why      why.Reason
}

// Outcomes counts chat requests by their outcomes. The zero value counted none.
type Outcomes struct {
	mu  sync.Mutex
	all map[string]Outcome
}

// Note counts a request that is over.
func (o *Outcomes) Note(name string, reason why.Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string]Outcome{}
	}
	o.all[name] = Outcome{name, o.all[name].Requests + 1, reason}
}

// Known returns the outcomes that there were, sorted.
func (o *Outcomes) Known() []Outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.SortedFunc(maps.Values(o.all), func(a, b Outcome) int { return strings.Compare(a.Outcome, b.Outcome) })
}
