package page

import (
	"laconic/proxy"
	"laconic/view"
)

// totals are what was sent and what was not, of one request or of many. Tokens are as
// the proxy counts, but for Prompt and Cached, which are as upstreams say.
type totals struct {
	// Requests are those that went to an upstream, Unsent those that none got; nothing
	// else counts them.
	Requests int `json:"requests"`
	Unsent   int `json:"unsent,omitempty"`
	// Before is what clients sent, Sent what went on.
	Before int `json:"before"`
	Sent   int `json:"sent"`
	// Told is how many answers stated what a cache served; the next two are of those alone.
	Told   int `json:"told"`
	Prompt int `json:"prompt"`
	Cached int `json:"cached"`
	// Rewritten is what was sent anew because an epoch changed what was sent before,
	// and which a prompt cache would have served.
	Rewritten int `json:"rewritten"`
	Epochs    int `json:"epochs"` // those that began with a request that was sent

	Summaries     int `json:"summaries"`
	SummaryTokens int `json:"summary_tokens"`
}

// add adds what a request took.
func (t *totals) add(o *totals) {
	for of, n := range map[*int]int{
		&t.Requests: o.Requests, &t.Unsent: o.Unsent, &t.Before: o.Before, &t.Sent: o.Sent, &t.Told: o.Told,
		&t.Prompt: o.Prompt, &t.Cached: o.Cached, &t.Rewritten: o.Rewritten, &t.Epochs: o.Epochs,
	} {
		*of += n
	}
}

// account works out what a request took, and adds it to its conversation and to all. The
// caller holds mu.
func (p *Page) account(r *request) {
	i, conv := r.reply.Rewrite, r.conv
	if i == nil || i.Outcome == proxy.Rejected {
		return
	}
	report := &i.Report
	point := view.Point{ID: r.id, Before: report.Before, Sent: report.After, Budget: report.Budget, Cached: -1, State: string(r.reply.Outcome), Unsent: r.reply.Unsent}
	k := totals{Requests: 1, Before: report.Before, Sent: report.After}
	switch {
	case r.reply.Unsent:
		k, point.Sent = totals{Unsent: 1}, 0
	case i.Outcome == proxy.Shadow:
		k.Sent = k.Before
	case i.NewEpoch:
		k.Epochs, point.Epoch = 1, true
	}
	if u := r.reply.Usage; u != nil && u.Prompt > 0 && u.CacheTold && !r.reply.Unsent {
		k.Told, k.Prompt, k.Cached, point.Cached = 1, u.Prompt, u.Cached, u.Cached
		// Other counts may move an epoch that began earlier, which costs the same.
		if conv != nil && (k.Epochs > 0 || report.Epochs > conv.epochs) && conv.caches && i.Outcome != proxy.Shadow {
			fresh := max(0, k.Before-conv.before) // what the client added
			k.Rewritten = max(0, u.Prompt-u.Cached-fresh)
		}
	}
	if conv != nil {
		conv.caches = conv.caches || k.Cached > 0
		if r.reply.Status == 200 && !r.reply.Unsent {
			conv.before, conv.epochs = k.Before, report.Epochs
		}
		conv.Totals.add(&k)
		conv.add(point)
	}
	p.totals.add(&k)
	r.cost = k
}
