package metrics

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"laconic/compact"
	"laconic/proxy"
	"laconic/proxy/apierror"
	"laconic/proxy/operate"
	"laconic/proxy/summarize"
	"laconic/proxy/wire"
)

// Listener returns a listener that counts what it is told.
func (m *Metrics) Listener() proxy.Listener {
	return proxy.Listener{
		Rewritten:  m.rewritten,
		Replied:    m.replied,
		Summarized: m.summarized,
		Upstream: func(i proxy.UpstreamInfo) {
			if u, err := url.Parse(i.Upstream); err == nil {
				count(m.changes, operate.Origin(u), string(i.Event))
			}
		},
		Failed: func(i proxy.FaultInfo) {
			if i.Peer {
				m.peers.Inc()
			} else {
				m.faults.Inc()
			}
		},
	}
}

// begin makes the series of what happens seldom, at 0: else Prometheus would not see
// the first time.
func (m *Metrics) begin() {
	for _, code := range []string{
		apierror.CodeClientLeft, apierror.CodeClientStalled, apierror.CodeUnreachable, apierror.CodeBroke, apierror.CodeTimeout,
		apierror.CodeIdle, apierror.CodeProtocol, apierror.CodeShutdown, apierror.CodeFault, apierror.CodeOverloaded,
		apierror.CodeRate, apierror.CodeBudget,
	} {
		m.errors.WithLabelValues(code)
	}
	for _, ended := range []string{wire.AtWindow, wire.BeforeOutput, wire.Empty, wire.WithoutDone, wire.HalfEvent} {
		m.truncated.WithLabelValues(ended)
	}
	for _, op := range []compact.Op{
		compact.OpMend, compact.OpDropMessage, compact.OpDropResult, compact.OpQuote, compact.OpDropCall,
		compact.OpAnswer, compact.OpSetID, compact.OpRename, compact.OpMove, compact.OpMerge, compact.OpSplit, compact.OpInsert,
	} {
		m.repairs.WithLabelValues(string(op))
	}
	m.breaks.WithLabelValues(byEpoch)
	m.breaks.WithLabelValues(byRetry)
}

// The reasons of prefix breaks.
const (
	byEpoch = "epoch"
	byRetry = "retry"
)

// count adds one to a counter. A status in its last label, which an upstream may make
// up, has its name.
func count(v *prometheus.CounterVec, labels ...string) {
	last := &labels[len(labels)-1]
	if status, ok := strings.CutPrefix(*last, "status_"); ok {
		n, _ := strconv.Atoi(status)
		*last = "status_" + statusLabel(n)
	}
	v.WithLabelValues(labels...).Inc()
}

// add adds to a counter what an upstream or a plan says, which may be less than
// nothing.
func add(c prometheus.Counter, n int) {
	if n > 0 {
		c.Add(float64(n))
	}
}

// rewritten counts repairs: the edits are not there later.
func (m *Metrics) rewritten(i proxy.ReplyInfo) {
	if i.Rewrite.Report.Repairs == 0 || !i.Outcome.Done() {
		return
	}
	for n := range i.Rewrite.Edits {
		if e := &i.Rewrite.Edits[n]; e.Epoch == 0 {
			m.repairs.WithLabelValues(string(e.Op)).Inc()
		}
	}
}

func (m *Metrics) replied(i proxy.ReplyInfo) {
	route, outcome := routeOf(&i), cmp.Or(i.Outcome, noRoute)
	m.requests.WithLabelValues(route, string(outcome), statusLabel(i.Status), i.Wire).Inc()
	if i.Code != "" {
		count(m.errors, i.Code)
	}
	m.client(&i)
	if i.Own && (i.Endpoint == "/compact" || i.Endpoint == "/v1/compress") {
		m.serviceCalls.WithLabelValues(i.Endpoint, string(outcome)).Observe(i.Duration.Seconds())
	}
	if i.Passed != "" {
		count(m.passed, cmp.Or(i.Endpoint, other), i.Passed)
	}
	if i.Wire == "" {
		return
	}
	m.duration.WithLabelValues(route).Observe(i.Duration.Seconds())
	if i.FirstByte > 0 {
		m.firstByte.WithLabelValues(route).Observe(i.FirstByte.Seconds())
	}
	if i.Ended != "" {
		count(m.truncated, i.Ended)
	}
	if i.Cut {
		m.cut.Inc()
	}
	m.refused(i.Retry)
	if i.Rewrite != nil {
		if i.Rewrite.Kind != "" {
			count(m.kinds, string(outcome), i.Rewrite.Kind)
		}
		m.measured(&i, route)
		m.planned(&i)
	}
}

// refused counts a refusal, and what became of the second send.
func (m *Metrics) refused(r *proxy.RetryInfo) {
	switch {
	case r == nil:
	case r.Answered:
		count(m.refusals, r.Reason, "answered")
	case r.Sent:
		count(m.refusals, r.Reason, "refused")
	default:
		count(m.refusals, r.Reason, r.Why)
	}
}

// client counts a request for the client key that it came with.
func (m *Metrics) client(i *proxy.ReplyInfo) {
	if i.Client == "" {
		return
	}
	result := clientOK
	switch {
	case i.Own && (i.Code == apierror.CodeRate || i.Code == apierror.CodeBudget):
		result = clientLimited
	case i.Code != "" || i.Status >= 400:
		result = clientError
	}
	m.clients.WithLabelValues(i.Client, result).Inc()
	if u := i.Usage; u != nil {
		add(m.clientTokens.WithLabelValues(i.Client, "prompt"), u.Prompt)
		add(m.clientTokens.WithLabelValues(i.Client, "completion"), u.Completion)
	}
}

// What became of the requests of a client.
const (
	clientOK      = "ok"
	clientLimited = "limited"
	clientError   = "error"
)

// planned counts what was done to a chat request.
func (m *Metrics) planned(i *proxy.ReplyInfo) {
	if !i.Outcome.Done() || i.Unsent {
		return
	}
	r, policy := &i.Rewrite.Report, i.Rewrite.Policy
	if n := len(r.Stages); n > 0 {
		m.compactions.WithLabelValues(policy, r.Stages[n-1].Name).Inc()
	}
	for _, s := range r.Stages {
		add(m.stageEdits.WithLabelValues(policy, s.Name), s.Edits)
		add(m.stageSaved.WithLabelValues(policy, s.Name), s.Saved)
	}
	if i.Rewrite.NewEpoch {
		m.epochs.WithLabelValues(policy).Inc()
		m.breaks.WithLabelValues(byEpoch).Inc()
	}
	if i.Retry != nil && i.Retry.Sent {
		m.breaks.WithLabelValues(byRetry).Inc()
	}
	add(m.dropped, r.ResultsDropped)
	if s := i.Rewrite.Summary; s != nil {
		count(m.slots, s.Outcome, s.Reason)
	}
}

func (m *Metrics) summarized(i summarize.JobInfo) {
	result := cmp.Or(i.Reason, "found")
	if i.Reason == "" && i.Made {
		result = "made"
	}
	count(m.summaries, result)
	if i.Tries > 0 {
		m.summaryTime.Observe(i.Duration.Seconds())
	}
	add(m.summaryCalls, i.Tries)
	add(m.summaryTokens, i.SourceTokens)
}

// measured counts the tokens of a request, and what it took to plan.
func (m *Metrics) measured(i *proxy.ReplyInfo, route string) {
	add := func(v *prometheus.CounterVec, n int) { add(v.WithLabelValues(route, string(i.Outcome)), n) }
	if !i.Unsent || i.Outcome == proxy.Rejected {
		add(m.before, i.Rewrite.Report.Before)
		add(m.after, i.Rewrite.Report.After)
		add(m.sent, tokensSent(i))
		add(m.floor, i.Rewrite.Report.Fixed+i.Rewrite.Report.Parts.Instructions)
		add(m.budget, i.Rewrite.Report.Budget)
	}
	m.overhead.WithLabelValues(route).Observe(i.Rewrite.Overhead.Seconds())
	if u := i.Usage; u != nil {
		add(m.prompt, u.Prompt)
		add(m.cached, u.Cached)
		add(m.completion, u.Completion)
	}
}

// tokensSent returns what went to the upstream, by our count.
func tokensSent(i *proxy.ReplyInfo) int {
	switch r := &i.Rewrite.Report; {
	case i.Outcome == proxy.Rejected:
		return 0
	case i.Retry != nil && i.Retry.Sent:
		return i.Retry.First + i.Retry.Second
	case i.Outcome == proxy.Shadow:
		return r.Before
	default:
		return r.After
	}
}
