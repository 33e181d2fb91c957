package page

import (
	"laconic/proxy"
	"laconic/view"
)

// totals are what was sent and what was not, since the start. Tokens are as the
// proxy counts, but for Prompt, Cached and Output, which are as upstreams say.
type totals struct {
	// Requests are those that went to an upstream, Unsent those that none got, of
	// which nothing else is counted.
	Requests int `json:"requests"`
	Unsent   int `json:"unsent,omitempty"`
	// Before is what clients sent, Sent what went on.
	Before int `json:"before"`
	Sent   int `json:"sent"`
	// Told is how many answers stated usage; the next three are of those alone.
	Told   int `json:"told"`
	Prompt int `json:"prompt"`
	Cached int `json:"cached"`
	Output int `json:"output"`
	// Rewritten is what was sent anew because an epoch changed what was sent before,
	// and which a prompt cache would have served.
	Rewritten int `json:"rewritten"`
	Compacted int `json:"compacted"` // requests of which something was left out
	// Epochs are those that began with a request that was sent.
	Epochs int `json:"epochs"`

	// Priced is how many of the answers that stated usage have a price.
	Priced int `json:"priced"`
	// Paid is what these cost. Net is what was left out, at the price of cached
	// tokens, without what epochs and the prompts of summaries cost.
	Paid float64 `json:"paid"`
	Net  float64 `json:"net"`

	Summaries     int `json:"summaries"`
	SummaryTokens int `json:"summary_tokens"`
}

// cost is what one request adds to the totals.
type cost struct {
	told, priced                             bool
	before, sent                             int
	prompt, cached, output, rewritten, epoch int
	paid, net                                float64
}

// account works out what a request cost, and adds it to its conversation and to
// all.
func (p *Page) account(r *request) {
	i := &r.rewrite
	if i.ID == "" || i.Outcome == proxy.Rejected {
		return
	}
	report := &i.Report
	if r.reply.Unsent {
		p.totals.Unsent++
		if c := r.conv; c != nil {
			c.totals.Unsent++
			c.add(view.Point{ID: r.id, Before: report.Before, Budget: report.Budget, Cached: -1, State: string(r.reply.Outcome), Unsent: true})
		}
		return
	}
	k := cost{before: report.Before, sent: report.After}
	if i.Outcome == proxy.Shadow {
		k.sent = k.before
	}
	conv := r.conv
	if i.NewEpoch && i.Outcome != proxy.Shadow {
		k.epoch = 1
	}
	if u := r.reply.Usage; u != nil && u.Prompt > 0 {
		k.told = true
		k.prompt, k.cached, k.output = u.Prompt, u.Cached, u.Completion
		// Other counts may move an epoch that began earlier, which costs the same.
		if conv != nil && (k.epoch > 0 || report.Epochs > conv.epochs) && conv.caches && i.Outcome != proxy.Shadow {
			fresh := max(0, k.before-conv.before) // what the client added
			k.rewritten = max(0, u.Prompt-u.Cached-fresh)
		}
		if price := p.price(i.Model); price != nil {
			k.priced = true
			k.price(price)
		}
		if conv != nil {
			conv.caches = conv.caches || u.Cached > 0
		}
	}
	if conv != nil {
		if r.reply.Status == 200 {
			conv.before, conv.epochs = k.before, report.Epochs
		}
		conv.totals.add(&k)
		cached := -1
		if k.told {
			cached = k.cached
		}
		conv.add(view.Point{ID: r.id, Before: k.before, Sent: k.sent, Budget: report.Budget, Cached: cached, Epoch: k.epoch > 0, State: string(r.reply.Outcome)})
	}
	p.totals.add(&k)
	r.cost = k
}

// price works out what a request cost by a price.
func (k *cost) price(p *Price) {
	const million = 1e6
	k.paid = (float64(k.prompt-k.cached)*p.Input + float64(k.cached)*p.Cached + float64(k.output)*p.Output) / million
	k.net = (float64(k.before-k.sent)*p.Cached - float64(k.rewritten)*(p.Input-p.Cached)) / million
}

func (t *totals) add(k *cost) {
	t.Requests++
	t.Before += k.before
	t.Sent += k.sent
	if k.sent < k.before {
		t.Compacted++
	}
	t.Epochs += k.epoch
	if !k.told {
		return
	}
	t.Told++
	t.Prompt += k.prompt
	t.Cached += k.cached
	t.Output += k.output
	t.Rewritten += k.rewritten
	if k.priced {
		t.Priced++
		t.Paid += k.paid
		t.Net += k.net
	}
}

// price returns the first price that matches a model; nil: none does.
func (p *Page) price(model string) *Price {
	if p.o.Prices == nil {
		return nil
	}
	all := p.o.Prices()
	for i := range all {
		if all[i].Matches(model) {
			return &all[i]
		}
	}
	return nil
}
