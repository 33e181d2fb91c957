package demo

import (
	"net/http"
	"strconv"
	"strings"

	"laconic/demo/strict"
)

// turn is one request of the client, measured.
type turn struct {
	number  int
	what    string          // what the agent did with the answer
	own     *strict.Request // as the client sent it, read by the upstream; nil when it cannot read it
	arrived *strict.Request // as it arrived at the upstream; nil when nothing did
	client  int             // tokens as the client sent it
	sent    int             // tokens as it arrived; 0 when nothing did
	budget  int
	outcome string // the proxy's word for it, "" when the proxy says nothing
	stages  string
	epoch   bool // what was sent before is no longer the beginning of what is sent now
	aside   bool

	// What the upstream would say to the client's own bytes.
	bare    *strict.Refusal // nil: it would answer
	tooLong bool
	pairs   bool

	refused error         // what the client got instead of an answer
	usage   *strict.Usage // what the upstream charged
}

// repaired says whether illegal pairs of the client arrived legal.
func (t *turn) repaired() bool { return t.pairs && t.refused == nil }

// measure looks at one exchange from all three sides: the client's bytes, the proxy's headers, and what the
// upstream saw (nil when nothing reached it).
func (s *show) measure(x exchange, seen *strict.Seen) turn {
	t := turn{budget: s.o.Budget, refused: x.refused}
	t.own, t.bare = s.o.Upstream.Read(x.body)
	if t.own != nil {
		t.client = t.own.PromptTokens()
		t.tooLong = s.o.Upstream.Limit() >= 0 && t.client > s.o.Upstream.Limit()
	}
	t.pairs = t.bare != nil && t.bare.Kind == strict.KindPairs
	if seen != nil {
		t.usage = seen.Usage
		if t.arrived, _ = s.o.Upstream.Read(seen.Body); t.arrived != nil {
			t.sent = t.arrived.PromptTokens()
		}
	}
	t.readHeaders(x.header)
	return t
}

// readHeaders takes the proxy's own numbers where it gives them. They are in its own count of tokens, which the
// budget is in, too; so they belong together.
func (t *turn) readHeaders(h http.Header) {
	t.outcome = h.Get("x-laconic-outcome")
	t.stages = stagesLine(h.Get("x-laconic-stages"))
	for name, to := range map[string]*int{
		"x-laconic-tokens-before": &t.client,
		"x-laconic-tokens-after":  &t.sent,
		"x-laconic-budget":        &t.budget,
	} {
		if n, err := strconv.Atoi(h.Get(name)); err == nil && n >= 0 {
			*to = n
		}
	}
}

// extends says whether now begins with everything that was sent before.
func extends(before, now []strict.Message) bool {
	if len(now) < len(before) {
		return false
	}
	for i, m := range before {
		if !m.Same(now[i]) {
			return false
		}
	}
	return true
}

// seenSince is the newest chat completion that reached the upstream after its first n requests and was
// answered, else one that was refused; nil when none came. A proxy may send twice when the first was refused.
func (s *show) seenSince(n int) *strict.Seen {
	all := s.o.Upstream.Requests()
	fresh := all[max(0, len(all)-(s.o.Upstream.Total()-n)):]
	var found *strict.Seen
	for i := range fresh {
		if !strings.HasSuffix(fresh[i].Path, "/chat/completions") {
			continue
		}
		if found == nil || fresh[i].Refusal == nil {
			found = &fresh[i]
		}
	}
	return found
}
