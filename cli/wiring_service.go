package cli

import (
	"slices"

	"laconic/compact"
	"laconic/config"
	"laconic/fold"
	"laconic/fold/service"
	"laconic/proxy"
)

// foldService returns the fold as a service, under the rows of models. What a
// configuration says of a model decides, and nothing that was learnt or written of it:
// all replicas answer alike.
func foldService(c *config.Config, t *routeTable) *service.Handler {
	return &service.Handler{Limit: int64(c.Limits.Body), Options: func(model string) (fold.Options, bool) {
		r := t.route(model)
		p := *r.Policy
		p.Summaries = false // there is no summarizer
		if r.SystemMessages == proxy.SystemFold {
			p.Demands |= compact.OneSystem
		}
		row := slices.IndexFunc(t.rows, func(row routeRow) bool { return row.pattern.Matches(model) }) // one matches everything
		on := r.Mode != proxy.ModeOff && r.Mode != proxy.ModeShadow
		return fold.Options{Policy: &p, Counter: r.Counter, Limits: r.Limits, Overhead: t.rows[row].overhead}, on
	}}
}
