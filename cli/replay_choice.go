package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"laconic/compact"
	"laconic/compact/policy"
	"laconic/config"
	"laconic/counting"
	"laconic/proxy"
	"laconic/replay"
)

// choose sets which policies are measured, and under which budgets, as the flags and the
// configuration say.
func (r *replayRun) choose(cmd *cobra.Command) error {
	if err := r.chooseBudgets(); err != nil {
		return err
	}
	if _, err := counting.For("", r.tokenizer); err != nil {
		return err
	}
	c, err := config.Load(r.config)
	if err != nil {
		_ = printConfig(cmd.ErrOrStderr(), c, err, false)
		return exitError(exitInput)
	}
	if len(r.Budgets) == 0 {
		r.Budgets = []replay.Budget{{Share: 0.5}, {Share: 0.25}}
		if c.File != "" || r.Model != "" {
			r.Budgets = []replay.Budget{{Model: true}}
		}
	}
	p := proxyOptions(c)
	if r.Policies, err = r.measured(c, &p); err != nil {
		return err
	}
	r.Known = func(model string) (compact.Counter, compact.Limits) {
		route := p.RouteFor(model)
		if r.tokenizer == "" {
			return route.Counter, route.Limits
		}
		return must(counting.For(model, r.tokenizer)), route.Limits // the name was checked above
	}
	return nil
}

// chooseBudgets sets the budgets of the flags.
func (r *replayRun) chooseBudgets() error {
	for _, n := range r.budgets {
		if n <= 0 {
			return fmt.Errorf("--budget: %d is not a number of tokens above 0", n)
		}
		r.Budgets = append(r.Budgets, replay.Budget{Tokens: n})
	}
	for _, s := range r.shares {
		share, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || !(share > 0 && share <= 1) {
			return fmt.Errorf("--budget-share: %q is not a share above 0 and at most 1", s)
		}
		r.Budgets = append(r.Budgets, replay.Budget{Share: share})
	}
	return nil
}

// measured returns the policies that --policy names, or all, with what the systems claim
// that they are known from.
func (r *replayRun) measured(c *config.Config, p *proxy.Options) ([]replay.Policy, error) {
	known := r.known(c)
	chosen := known
	if r.policies != "" {
		chosen = strings.Split(r.policies, ",")
	}
	var all []replay.Policy
	for _, name := range chosen {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no policy %q (%s)", name, config.DidYouMean(name, known))
		}
		if slices.ContainsFunc(all, func(o replay.Policy) bool { return o.Name == name }) {
			continue
		}
		system := policy.Named(cmp.Or(c.Policies[name].Algorithm(), config.DefaultPolicy))
		all = append(all, replay.Policy{Name: name, Policy: p.Policies[name], Claims: system.Claims})
	}
	return all, nil
}

// known returns the names of all policies: first those of the rows of models, or of the
// one model, then the others of the file, then those that come with Laconic.
func (r *replayRun) known(c *config.Config) (names []string) {
	models := append(slices.Clone(c.Models), config.Model{})
	if r.Model != "" {
		models = []config.Model{c.RowOf(r.Model)}
	}
	var rows []string
	for _, row := range models {
		rows = append(rows, cmp.Or(row.Policy, config.DefaultPolicy))
	}
	own := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Policies)), func(name string) bool { return slices.Contains(policy.Names(), name) })
	for _, name := range slices.Concat(rows, own, policy.Names()) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
