package replay

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"laconic/compact"
	"laconic/compact/promises"
	"laconic/replay/recording"
)

// workload is a recording to replay, with what all policies are compared with.
type workload struct {
	*recording.Recording
	counter compact.Counter
	fixed   int
	costs   []int // of each message
	peak    int   // cost of the largest request
	turns   []turn
	full    float64 // bill of sending everything
}

// turn is one request as the client sent it.
type turn struct {
	messages int // length of the request
	full     int // its cost
	// facts and edits are those of the calls that the request led to.
	facts []fact
	edits []edit
}

// prepare computes what all policies are compared with.
func prepare(r *recording.Recording, c compact.Counter, prices Prices) *workload {
	w := &workload{Recording: r, counter: c}
	w.fixed = c.Fixed(r.Beside)
	var read [][]string // the texts of each message
	for i := range r.Messages {
		w.costs = append(w.costs, compact.Cost(w.counter, &r.Messages[i]))
		read = append(read, reading(&r.Messages[i]))
	}
	points := r.RequestPoints()
	facts, edits := factsOf(r.Messages, read), editsOf(r.Messages, read, points)
	full, counted := w.fixed, 0
	for i, k := range points {
		// A request led to the calls before the next one.
		next := len(r.Messages)
		if i+1 < len(points) {
			next = points[i+1]
		}
		for ; counted < k; counted++ {
			full += w.costs[counted]
		}
		t := turn{messages: k, full: full}
		for ; len(facts) > 0 && facts[0].call < next; facts = facts[1:] {
			if facts[0].call >= k {
				t.facts = append(t.facts, facts[0])
			}
		}
		for ; len(edits) > 0 && edits[0].message < next; edits = edits[1:] {
			t.edits = append(t.edits, edits[0])
		}
		w.full += prices.bill(full, w.peak) // it begins with the whole request before
		w.peak = full
		w.turns = append(w.turns, t)
	}
	return w
}

// step is one request, as a policy makes it.
type step struct {
	*turn
	in     compact.Conversation
	plan   compact.Plan
	report compact.Report
	took   time.Duration // to plan it
	sent   []compact.Message
	costs  []int  // of each message that is sent
	total  int    // tokens that are sent, fixed ones included
	whole  []bool // of each message of the client's list: it is sent unchanged
	// The request before has so many messages. common of them start this one, which is
	// worth cached tokens.
	before, common, cached int
	began                  int // epochs that the request before did not have
}

// through yields every request of a workload as a policy makes it, with its index.
func (w *workload) through(p *compact.Policy, b compact.Budget) iter.Seq2[int, *step] {
	return func(yield func(int, *step) bool) {
		before := &step{}
		for i := range w.turns {
			s := &step{turn: &w.turns[i], before: len(before.sent)}
			s.in = compact.Conversation{Messages: w.Messages[:s.messages:s.messages], Fixed: w.fixed, Rules: w.Rules}
			start := time.Now()
			s.plan, s.report = compact.Compact(s.in, p, w.counter, b)
			s.sent = s.plan.Apply()
			s.took = time.Since(start)
			w.count(s)
			s.common, s.cached = shared(before, s)
			s.began = len(s.plan.Epochs)
			for i := range min(len(before.plan.Epochs), len(s.plan.Epochs)) {
				if before.plan.Epochs[i].At == s.plan.Epochs[i].At {
					s.began--
				}
			}
			if !yield(i, s) {
				return
			}
			before = s
		}
	}
}

// measure replays every request of a workload through a policy.
func (w *workload) measure(p *Policy, b compact.Budget, name string, o *Options) (r Numbers, failures []Failure) {
	r = Numbers{Conversations: 1, Requests: len(w.turns), Full: w.full}
	for _, s := range w.through(p.Policy, b) {
		if s.full > b.Tokens {
			kept := retained(s.facts, s.sent, s.whole)
			kept.Edits, kept.EditsShown = len(s.edits), shownEdits(s.edits, s.sent, s.whole)
			r.Over++
			r.add(&Numbers{Kept: kept})
			if s.total <= b.Tokens {
				r.Fits++
			}
		}
		broke := s.common < s.before
		r.Epochs += s.began
		if broke {
			r.PrefixBreaks++
		}
		r.Sent += s.total
		r.Cached += s.cached
		r.Took += s.took
		r.Bill += o.Prices.bill(s.total, s.cached)
		if len(p.Claims) > 0 {
			errs := promises.Broken(s.in, p.Policy, w.counter, b, &s.plan, s.report)
			if broke && s.began == 0 {
				errs = append(errs, fmt.Errorf("stable: only %d of the %d messages sent before start the request, and no epoch did", s.common, s.before))
			}
			for _, err := range errs { // it starts with the name of its promise and a colon
				promise, detail, _ := strings.Cut(err.Error(), ": ")
				if slices.Contains(p.Claims, promise) {
					r.Failures++
					failures = append(failures, Failure{
						Policy: p.Name, Budget: name, Promise: promise, File: w.File, Conversation: w.ID, Messages: s.messages, Detail: detail,
					})
				}
			}
		}
	}
	if r.Facts > 0 {
		r.recalls = []float64{r.Recall()}
	}
	return r, failures
}

// count sets what a request costs, and which of the client's messages are sent unchanged.
func (w *workload) count(s *step) {
	s.costs, s.total, s.whole = make([]int, len(s.sent)), w.fixed, make([]bool, len(w.Messages))
	for i := range s.sent {
		m := &s.sent[i]
		if m.Origin >= 0 && m.Origin < len(w.Messages) && m.Equal(&w.Messages[m.Origin]) {
			s.whole[m.Origin] = true
			s.costs[i] = w.costs[m.Origin]
		} else {
			s.costs[i] = compact.Cost(w.counter, m)
		}
		s.total += s.costs[i]
	}
}
