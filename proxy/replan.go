package proxy

import (
	"net/http"

	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/overflow"
	"laconic/proxy/plan"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

// reconsider returns the attempt in the place of one that was refused, nil if none
// may help.
func (a *attempt) reconsider(status int, r wire.Refusal) *second {
	switch {
	case r.Generated:
		return nil
	case a.Bound && r.Thinking.OfThinking():
		return a.afterThinking(r.Thinking)
	case r.Size.Kind != overflow.None && !(r.Size.Unsure && r.Template != overflow.TemplateTaken || a.Sent.Doubtful(r.Size)):
		return a.afterOverflow(r.Size, status)
	case r.Template != overflow.TemplateTaken:
		return a.afterTemplate(r.Template)
	case a.Report.Epochs == 0: // not compacted: it is the client's own
		return nil
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		return a.afterRefusal()
	}
	return nil
}

// startRetryInfo starts the account of a refusal.
func (a *attempt) startRetryInfo(reason string) *RetryInfo {
	i := &RetryInfo{Refusal: why.Refusal{Reason: reason, First: a.Report.After}}
	a.c.x.info.Retry = i
	return i
}

// replan reads the client's body once more and makes another plan of it, under
// other facts: with the first of some demands that rewrite it otherwise, or the last.
// It returns nil, and notes why, where the body was let go or there is no memory to
// read it.
func (a *attempt) replan(facts learn.Facts, i *RetryInfo, tries ...compact.Demands) *second {
	c := a.c
	i.Why = "memory"
	defer c.x.call.body.WasRead()
	in := c.x.call.body.ReadAgain(c.x.r.Context())
	if in == nil {
		return nil
	}
	req, _, _ := c.x.decodeText(in)
	if req == nil {
		return nil
	}
	var p *plan.Plan
	err := c.x.try("compact", func() {
		for n, demands := range tries {
			facts.Demands.Value = demands
			if p = c.Plan(req, facts, true); p.Report.Repairs != a.Report.Repairs || n == len(tries)-1 {
				break
			}
		}
	})
	if err != nil {
		return nil
	}
	s := &second{attempt: attempt{c: c, info: c.info}, reason: i.Reason, cut: c.CutOf(req.Conversation.Messages)}
	if s.body, err = c.encode(p, req, &s.info); err != nil {
		return nil
	}
	s.account(p)
	s.info.Overhead = a.info.Overhead
	i.Why = ""
	c.x.tellPlan(p, &s.attempt, req.Conversation, in.Text, s.body, true)
	return s
}

// afterThinking answers a refusal that is about bound thinking. All of it leaves,
// also that of the turn in which the model is: where one piece is bound to another
// history, so is what came after it, and what came before it was written for the
// same list as it.
func (a *attempt) afterThinking(wrong overflow.Template) *second {
	i := a.startRetryInfo(reasonThinking)
	switch {
	case wrong == overflow.NoThinking:
		i.Why = "missing"
	case !a.Signed:
		i.Why = "none"
	default:
		return a.replan(a.Facts, i, a.Facts.Demands.Value)
	}
	return nil
}

// afterOverflow learns from a refusal, and folds again under what was learnt.
func (a *attempt) afterOverflow(r overflow.Refusal, status int) *second {
	i := a.startRetryInfo(reasonOverflow)
	i.Kind, i.Form, i.Limit, i.Prompt, i.Output = string(r.Kind), r.Form, r.Limit, r.Prompt, r.Output
	if learn.Hopeless(r) {
		i.Why = "answer" // compaction cannot help against that
		return nil
	}
	trial := a.c.Known.Refused(r, a.Sent)
	i.Full = trial.Full && a.c.Stated
	if status == http.StatusTooManyRequests {
		i.Why = "status" // the client waits and comes again; then it fits
		return nil
	}
	s := a.replan(trial.Facts, i, trial.Facts.Demands.Value)
	if s == nil {
		return nil
	}
	s.trial = &trial
	// A smaller body is sent even if it is not small enough by our count, as the next
	// turn would send it too, and counts are no certainty; but not where requests that
	// are over are refused, nor where the fixed part alone is too large.
	fixed := s.Report.Fixed > s.c.Accepts(&s.Facts)
	if !s.smaller(a, r) || !s.fits() && (s.c.Policy.Reject || fixed) {
		i.Why = "over"
		return nil
	}
	return s
}

// demanded is what a list must meet for a template that refused one.
var demanded = map[overflow.Template]compact.Demands{
	overflow.SecondSystem: compact.OneSystem,
	overflow.AnySystem:    compact.NoSystem,
	overflow.SeveralCalls: compact.SingleCalls,
	overflow.LongIDs:      compact.NineLetters,
	overflow.SameTurns:    compact.TakeTurns | compact.OneSystem, // a system message is a turn there, too
}

// afterTemplate rewrites the list as the template demands. If that changes nothing, it
// does less to the list: it leaves out the slot, then only repairs the client's list.
func (a *attempt) afterTemplate(t overflow.Template) *second {
	i := a.startRetryInfo(reasonTemplate)
	i.Template, i.Hint, i.Why = t.String(), t.Hint(), "uncured"
	is := a.Facts.Demands.Value
	meets := is | demanded[t]
	var tries []compact.Demands
	if meets != is {
		tries = append(tries, meets)
	}
	switch {
	case a.Report.Epochs == 0: // it is the client's own
	case a.Slotted && !is.Has(compact.NoSlot):
		tries = append(tries, is|compact.NoSlot)
	case a.Report.Before <= a.c.Accepts(&a.Facts):
		tries = append(tries, is&^compact.NoSlot|compact.Original)
	default:
		i.Why = "over"
	}
	if len(tries) == 0 {
		return nil
	}
	uncured := i.Why
	s := a.replan(a.Facts, i, tries...)
	switch {
	case s == nil:
	case s.Report.Repairs == a.Report.Repairs && s.Facts.Demands.Value == meets: // the same once more
		i.Why = uncured
		return nil
	case !s.fits():
		i.Why = "over"
		return nil
	}
	return s
}

// afterRefusal puts the client's own list, repaired where it needs that, in the
// place of a compacted one, where it fits.
func (a *attempt) afterRefusal() *second {
	i := a.startRetryInfo(reasonRefused)
	if a.Report.Before > a.c.Accepts(&a.Facts) {
		i.Why = "over"
		return nil
	}
	return a.replan(a.Facts, i, a.Facts.Demands.Value|compact.Original)
}

// fits reports whether the upstream takes a plan, as far as is known: the plan may
// be above its budget and still have room, where no answer's length was asked for.
func (s *second) fits() bool {
	r := &s.Report
	return r.After <= s.c.Accepts(&s.Facts) && r.MessagesAfter <= s.Budget.Messages
}

// smaller reports whether a plan is smaller than the refused one, in what that was
// refused for.
func (s *second) smaller(first *attempt, of overflow.Refusal) bool {
	switch of.Kind {
	case overflow.Count:
		return s.Report.MessagesAfter < first.Report.MessagesAfter
	case overflow.Bytes:
		return s.Sent.Bytes < first.Sent.Bytes && (of.Limit == 0 || s.Sent.Bytes <= of.Limit)
	}
	way := s.Facts.Count.Value.Way
	return s.Sent.Size(way) < first.Sent.Size(way) && s.Sent.Bytes != first.Sent.Bytes
}
