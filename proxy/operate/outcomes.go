package operate

import (
	"slices"
	"strings"
	"sync"
	"time"

	"laconic/proxy/why"
)

// Cut takes the place of an outcome once the answer shows that the upstream read less
// than it was sent.
const Cut = "cut"

// Outcome is how many chat requests ended in one way, and why the last did.
type Outcome struct {
	Outcome  string // of the proxy, or Cut
	Requests int
	Why      why.Reason
	At       time.Time
}

// Outcomes counts chat requests by their outcomes. The zero value counted none.
type Outcomes struct {
	mu  sync.Mutex
	all map[string]Outcome
}

// Note counts a request that is over.
func (o *Outcomes) Note(name string, reason why.Reason, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string]Outcome{}
	}
	o.all[name] = Outcome{name, o.all[name].Requests + 1, reason, now}
}

// Known returns the outcomes that there were, sorted.
func (o *Outcomes) Known() (all []Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.all {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Outcome) int { return strings.Compare(a.Outcome, b.Outcome) })
	return all
}
