package operate

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"laconic/number"
	"laconic/proxy/why"
)

const (
	// downAfter is how many requests in succession an upstream fails until it is
	// called down.
	downAfter = 3
	// downFor is how long after its last failure an upstream that is down makes this
	// proxy not ready. An unready proxy gets no requests, so nothing else would show
	// that the upstream is back.
	downFor = 30 * time.Second
)

// Event is what requests showed of an upstream, in a word.
type Event string

// The events of upstreams.
const (
	Down Event = "down" // several requests in succession had no answer, a broken one, or 502, 503 or 504
	Up   Event = "up"   // one is answered again
	// WithoutPath: 404 for a path that every upstream has, below a base URL without a
	// version, such as /v1.
	WithoutPath Event = "without_path"
	// Cuts: it reads as much of a prompt as its window holds, and drops the rest
	// without a word. Usage shows it, or it is known of the program and nothing tells
	// its window, so that its default is taken.
	Cuts Event = "cuts"
)

// Upstream is what requests have shown of one upstream.
type Upstream struct {
	Upstream string `json:"upstream"` // its origin, as in https://api.openai.com
	Down     bool   `json:"down"`
	Failures int    `json:"failures"` // in succession
	// Answered and Failed are when the last request was answered, and when the last
	// one failed; zero: never.
	Answered time.Time `json:"answered,omitzero"`
	Failed   time.Time `json:"failed,omitzero"`
	// Why is why the last one failed, and Code the same in a word.
	Why  why.Reason `json:"why,omitzero"`
	Code string     `json:"-"`

	began time.Time // of these failures
	known bool      // a path of the API was there, or is known to be missing
}

// Wrong says that an upstream is down, and what to do.
func (u *Upstream) Wrong() why.Finding {
	says := fmt.Sprintf("%s is down: %s in succession failed, the last because %s", u.Upstream, number.Count(u.Failures, "request"), u.Why.Says)
	return why.Finding{State: why.Failure, Says: says, Fix: cmp.Or(u.Why.Fix, "start it, or correct upstream")}
}

// Upstreams are all that requests went to, by their origins. The zero value has none.
type Upstreams struct {
	mu  sync.Mutex
	all map[string]*Upstream
}

// Origin returns the origin of a base URL.
func Origin(u *url.URL) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() }

// Shown is what one request showed of its upstream.
type Shown struct {
	Code string // of its failure; "": it was answered
	Why  why.Reason
	// Found and Missing: its path is there, or is not, below a base URL without a
	// version.
	Found, Missing bool
}

// Change is a change in what is known of an upstream.
type Change struct {
	Event    Event
	Failures int           // in succession
	Down     time.Duration // of Up: from the first failure
}

// Observe takes in one request, and returns what changes by it.
func (u *Upstreams) Observe(origin string, s Shown, now time.Time) (changes []Change) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all == nil {
		u.all = map[string]*Upstream{}
	}
	one := u.all[origin]
	if one == nil {
		one = &Upstream{Upstream: origin}
		u.all[origin] = one
	}
	if s.Code != "" {
		if one.Failures == 0 {
			one.began = now
		}
		one.Failures, one.Code, one.Why, one.Failed = one.Failures+1, s.Code, s.Why, now
		if one.Down = one.Failures >= downAfter; one.Failures == downAfter {
			changes = append(changes, Change{Event: Down, Failures: downAfter})
		}
		return changes
	}
	if one.Down {
		changes = append(changes, Change{Event: Up, Failures: one.Failures, Down: now.Sub(one.began)})
	}
	one.Down, one.Failures, one.Answered = false, 0, now
	if s.Missing && !one.known {
		changes = append(changes, Change{Event: WithoutPath})
	}
	one.known = one.known || s.Found || s.Missing
	return changes
}

// Known returns what requests have shown of some upstreams, sorted; nil: of all.
func (u *Upstreams) Known(some map[string]bool) (all []Upstream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for origin, one := range u.all {
		if some == nil || some[origin] {
			all = append(all, *one)
		}
	}
	slices.SortFunc(all, func(a, b Upstream) int { return strings.Compare(a.Upstream, b.Upstream) })
	return all
}

// Down reports whether every one of some upstreams that requests went to is down, as
// far as was seen lately.
func (u *Upstreams) Down(some map[string]bool, now time.Time) bool {
	known := u.Known(some)
	return len(known) > 0 && !slices.ContainsFunc(known, func(one Upstream) bool { return !one.Down || now.Sub(one.Failed) > downFor })
}

// Words says what requests have shown, a line for each upstream.
func (u *Upstreams) Words() string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "never"
		}
		return t.UTC().Format(time.RFC3339)
	}
	known := u.Known(nil)
	text := fmt.Sprintf("upstreams: %d\n", len(known))
	for _, one := range known {
		state := map[bool]string{false: "up", true: "down"}[one.Down]
		text += fmt.Sprintf("%s: %s, answered %s, failed %s", one.Upstream, state, at(one.Answered), at(one.Failed))
		if one.Code != "" {
			text += " (" + one.Code + ")"
		}
		text += ", " + number.Count(one.Failures, "failure") + " in succession\n"
	}
	return text
}
