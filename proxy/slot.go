package proxy

import (
	"laconic/compact"
	"laconic/proxy/summarize"
	"laconic/proxy/wire"
)

// newSummarizer returns the service that fills the slots of plans.
func newSummarizer(p *Proxy) *summarize.Service {
	return summarize.New(p.o.Summarizer, summarize.Environment{
		Memory:    p.memory,
		Transport: newTransport(&p.o.Limits),
		Ended:     p.o.Listener.Summarized,
		Failed:    func(id string, v any) { p.fault(id, "summary", v) },
	})
}

// SummaryCounts returns the totals of this proxy; zero without a summarizer.
func (p *Proxy) SummaryCounts() summarize.Counts { return p.summaries.Counts() }

// slotText returns the text for the slot of a plan.
func (t *trip) slotText(in compact.Conversation, plan *compact.Plan, info *RewriteInfo) string {
	text, summary := t.p.summaries.Text(t.r.Context(), t.summaryRequest(), in, plan)
	if summary != nil {
		info.Summary = summary
		t.heldFor += summary.Duration
	}
	return text
}

// prepare begins the summary of the coming epoch, once a conversation has
// passed the warm mark.
func (t *trip) prepare(req *wire.Request, plan *compact.Plan, info *RewriteInfo) {
	if info.Outcome != Rejected {
		_ = t.safely("summary", func() error {
			t.p.summaries.Prepare(t.summaryRequest(), req.Conversation, plan)
			return nil
		})
	}
}

// summaryRequest describes t to the summarizer.
func (t *trip) summaryRequest() *summarize.Request {
	policy := t.policy()
	return &summarize.Request{
		ID: t.info.ID, Header: t.r.Header, Query: t.r.URL.RawQuery, Upstream: t.route.Upstream,
		Policy: policy.Name, Counting: t.tag(), Counter: t.counter(), Budget: t.budget, Pins: t.orders.pins, Unfolded: policy.PerRequest != nil,
		Overridden: t.orders.budget > 0 || t.orders.policy != nil, Unedited: t.mode() != ModeOn, Bound: t.bound, Waited: t.heldFor,
	}
}

// counter returns what counts for the request's model, as its plan did.
func (t *trip) counter() compact.Counter {
	if t.weight != nil {
		return t.weight
	}
	if c := t.policy().Counter; c != nil {
		return c
	}
	return t.facts.Counter(t.route.Counter)
}
