package cli

import (
	"cmp"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"laconic/compact"
	"laconic/config"
	"laconic/counting"
	"laconic/fold"
	"laconic/fold/service"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/proxy/plan"
)

// The proxy asks these of a counter that has them.
var (
	_ plan.Guessing = (*counting.Counter)(nil)
	_ plan.Summing  = (*counting.Counter)(nil)
)

// proxyOptions makes the options of the proxy. The configuration must be valid. Parts
// that depend on the process (listener, transport) are left to the caller.
//
// A request that names no model counts as one with an empty name, which only
// "*" matches: where such a row is, it holds for the list of models, too.
func proxyOptions(c *config.Config) proxy.Options {
	policies := buildPolicies(c)
	t := routes(c, policies)
	o := proxy.Options{
		Default:           *t.route(""),
		Routes:            t.rows,
		RouteFor:          t.route,
		Policies:          policies,
		Listen:            c.Listen,
		Overrides:         c.OverridesOn(),
		ResponseHeaders:   c.ResponseHeaders,
		Strict:            c.Strict,
		RejectFaults:      c.OnFault == "reject",
		UpstreamReadiness: c.Readiness == "upstream",
		ClientKeys:        clientKeys(c),
		AllowedOrigins:    c.AllowedOrigins,
		AdminToken:        c.AdminToken,
		Summarizer:        summarizer(c),
		Limits: proxy.Limits{
			Body:           int64(c.Limits.Body),
			Memory:         int64(c.Limits.Memory),
			Connections:    c.Limits.ConnectionsPerAddress,
			Heads:          c.Limits.HeadsPerAddress,
			Header:         time.Duration(c.Limits.HeaderTimeout),
			ResponseHeader: time.Duration(c.Limits.ResponseHeaderTimeout),
			StreamIdle:     time.Duration(c.Limits.StreamIdle),
			Drain:          time.Duration(c.DrainTime()),
			Shutdown:       time.Duration(c.Limits.Shutdown),
		},
	}
	if c.Service {
		o.Service = foldService(c, t)
	}
	return o
}

// must returns what cannot fail, as nothing does that a valid configuration is used for.
func must[T any](v T, err error) T {
	if err != nil {
		panic("BUG: this cannot fail: " + err.Error())
	}
	return v
}

// routeTable finds the route of a model. The rows are made once; what a
// name adds (its window, its counter) is remembered.
type routeTable struct {
	*config.Config
	rows  []*proxy.Route // of the rows of models, and of all that match none
	known *otter.Cache[string, *proxy.Route]
}

// The names of models come from clients: so many, of that length, are
// remembered.
const (
	mostRoutes   = 1024
	longestKnown = 256
)

func routes(c *config.Config, policies map[string]*compact.Policy) *routeTable {
	top := must(config.ParseUpstream(c.Upstream))
	t := &routeTable{Config: c, known: otter.Must(&otter.Options[string, *proxy.Route]{MaximumSize: mostRoutes})}
	rows := slices.Clone(c.Models)
	if !slices.ContainsFunc(rows, config.Model.Everything) {
		rows = append(rows, config.Model{}) // no row of the file
	}
	for _, m := range rows {
		upstream := must(config.ParseUpstream(cmp.Or(m.Upstream, c.Upstream)))
		t.rows = append(t.rows, &proxy.Route{
			Match:            m.Match,
			Upstream:         upstream,
			Key:              m.APIKey,
			ClientCredential: m.APIKey == "" && len(c.ClientKeys) == 0 && (m.Credential == "client" || access.SameOrigin(upstream, top)),
			Limits:           m.Limits,
			Discover:         c.Discover,
			Configured:       m.Window != 0 || m.Budget != 0,
			Policy:           policies[cmp.Or(m.Policy, config.DefaultPolicy)],
			Mode:             m.Mode,
			MinBody:          int64(m.MinBody),
			Tokenizer:        m.Tokenizer,
			SystemMessages:   m.SystemMessages,
		})
	}
	return t
}

// route returns the route of a model: that of the first row that matches, with
// what its name adds.
func (t *routeTable) route(model string) *proxy.Route {
	if len(model) > longestKnown {
		return t.find(model)
	}
	r, _ := t.known.ComputeIfAbsent(model, func() (*proxy.Route, bool) { return t.find(model), false })
	return r
}

func (t *routeTable) find(model string) *proxy.Route {
	match := t.RowOf(model).Match // "" where no row of the file does
	r := *t.rows[slices.IndexFunc(t.rows, func(row *proxy.Route) bool { return row.Match == match })]
	r.Limits = counting.Limits(r.Limits, model, t.DefaultWindow)
	r.Policy = priced(r.Policy, t.Prices, model)
	r.Counter = must(counting.For(model, r.Tokenizer))
	return &r
}

// foldService returns the fold as a service, under the rows of models. The
// configuration of a model decides, and no learnt or published fact: all replicas
// answer alike.
func foldService(c *config.Config, t *routeTable) *service.Handler {
	return &service.Handler{Limit: int64(c.Limits.Body), Options: func(model string) (fold.Options, bool) {
		r := t.route(model)
		p := *r.Policy
		p.Summaries = false // there is no summarizer
		if r.SystemMessages == proxy.SystemFold {
			p.Demands |= compact.OneSystem
		}
		on := r.Mode != proxy.ModeOff && r.Mode != proxy.ModeShadow
		return fold.Options{Policy: &p, Counter: r.Counter, Limits: r.Limits, Overhead: c.RowOf(model).Overhead}, on
	}}
}
