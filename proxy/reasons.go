package proxy

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"laconic/compact"
	"laconic/proxy/apierror"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

// over returns why an attempt is above its budget; nothing where it is not.
func (a *attempt) over() why.Reason {
	r := &a.info.Report
	if r.Outcome != compact.Over {
		return why.Reason{}
	}
	c, by := a.c, why.Guess
	switch {
	case c.x.overrides.budget == r.Budget:
		by = why.Override
	case c.limits.Budget == r.Budget:
		by = why.Row
	case a.facts.Window.Value > 0, a.facts.Input.Value > 0, a.facts.Hard.Value > 0, c.info.Told != compact.Published{}:
		by = why.Server
	case c.x.route.Configured:
		by = why.Window
	}
	window := cmp.Or(a.facts.Window.Value, c.limits.Window, compact.DefaultWindow)
	return why.Over(r, by, min(max(0, window-r.Budget), window/2))
}

// reason returns why the request went as it did, as far as it is known by now; nothing
// where there is nothing to explain.
func (x *exchange) reason() why.Reason {
	i := &x.info
	switch {
	case unansweredCodes[i.Code] && x.route != nil:
		return why.Unanswered(x.route.Upstream.Host, i.Code, i.Detail)
	case i.Pass != nil:
		return why.Passed(i.Pass.Reason, wire.Code(i.Pass.Reason).Sentence())
	case i.Retry != nil && (i.Retry.Sent || i.Retry.Why != "over"):
		r := i.Retry
		return why.Refused(why.Refusal{
			Reason: r.Reason, Hint: r.Hint, Limit: r.Limit, Prompt: r.Prompt, First: r.First, Second: r.Second, Sent: r.Sent, Answered: r.Answered,
		})
	case i.Rewrite != nil && i.Rewrite.Why.Says != "":
		return i.Rewrite.Why
	case i.Own:
		return x.said
	case i.Cut && i.Usage != nil:
		return why.Cut(i.Usage.Prompt, i.Rewrite.Report.After)
	case i.Ended != "":
		return why.Ended(i.Ended)
	case i.Rewrite != nil:
		return why.Repaired(&i.Rewrite.Report)
	}
	return why.Reason{}
}

var unansweredCodes = map[string]bool{
	apierror.CodeUnreachable: true, apierror.CodeBroke: true, apierror.CodeTimeout: true, apierror.CodeIdle: true, apierror.CodeProtocol: true,
}

// shownReason is the reason that the client may see: an address of an upstream is the
// operator's.
func (x *exchange) shownReason() string {
	r := x.reason()
	if x.info.Own && unansweredCodes[x.info.Code] {
		r = x.said
	}
	return why.Header(r)
}

// OutcomeCut stands for an outcome where the upstream read less than it was sent.
const OutcomeCut = "cut"

// OutcomeState is how many chat requests ended in one way, and why the last did.
type OutcomeState struct {
	Outcome  string // an [Outcome], or OutcomeCut
	Requests int
	Why      why.Reason
	At       time.Time
}

// outcomes counts chat requests by their outcomes.
type outcomes struct {
	mu  sync.Mutex
	all map[string]*OutcomeState
}

func newOutcomes() *outcomes { return &outcomes{all: map[string]*OutcomeState{}} }

// note counts a request that is over.
func (o *outcomes) note(i *ReplyInfo, now time.Time) {
	if i.Wire == "" {
		return
	}
	name := string(i.Outcome)
	if i.Cut {
		name = OutcomeCut
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.all[name]
	if s == nil {
		s = &OutcomeState{Outcome: name}
		o.all[name] = s
	}
	s.Requests++
	s.Why, s.At = i.Why, now
}

// states returns the outcomes that there were, sorted.
func (o *outcomes) states() (all []OutcomeState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.all {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b OutcomeState) int { return strings.Compare(a.Outcome, b.Outcome) })
	return all
}
