package cli

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"laconic/compact"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/config"
)

// buildPolicies builds every policy once.
func buildPolicies(c *config.Config) map[string]*compact.Policy {
	built := map[string]*compact.Policy{}
	for name, p := range c.Policies {
		p.Options = optionsOf(c, p)
		b := buildPolicy(p, name)
		b.Summaries = c.Summarizer.Model != ""
		sum := sha256.Sum256(fmt.Appendf(nil, "%#v", p)) // JSON writes no list as an empty one
		b.Version = string(sum[:])
		built[name] = b
	}
	return built
}

// priced returns the policy for a model whose provider charges for cached tokens as
// the first row of prices that matches it says. Without a price it is p.
func priced(p *compact.Policy, prices []config.Price, model string) *compact.Policy {
	i := slices.IndexFunc(prices, func(row config.Price) bool { return config.Pattern(row.Match).Matches(model) })
	if i < 0 || prices[i].Input <= 0 || prices[i].Cached <= 0 {
		return p
	}
	with := *p
	with.CachedPrice = prices[i].Cached / prices[i].Input
	with.Version = fmt.Sprintf("%s %g", p.Version, with.CachedPrice) // it has other epochs
	return &with
}

// optionsOf returns the options of a policy that is known from another system: where
// a summarizer is configured, it is asked unless the file says otherwise.
func optionsOf(c *config.Config, p config.Policy) json.RawMessage {
	const option = "summarize"
	takes := slices.ContainsFunc(policy.Named(p.Algorithm()).Options, func(o stage.Option) bool { return o.Name == option })
	if !takes || c.Summarizer.Model == "" {
		return p.Options
	}
	given := map[string]json.RawMessage{}
	if p.Options != nil && json.Unmarshal(p.Options, &given) != nil || given[option] != nil {
		return p.Options
	}
	given[option] = json.RawMessage("true")
	return must(json.Marshal(given))
}

// buildPolicy makes the policy that the fold works by.
func buildPolicy(p config.Policy, name string) *compact.Policy {
	built := &compact.Policy{
		Trigger:    p.Trigger,
		Land:       p.Land,
		KeepRecent: p.KeepRecent,
		Ladder:     stage.Default(),
	}
	if p.Algorithm() != "" {
		built = must(policy.New(p.Algorithm(), p.Options))
	}
	built.Name = name
	built.Repair = compact.RepairMode(p.Repair)
	built.Reject = p.OnOverflow == "reject"
	built.Pins = compact.Pins{Roles: append([]string(nil), p.Pin.Roles...), Tools: compact.ToolPatterns(p.Pin.Tools...)}
	for _, text := range p.Pin.Text {
		built.Pins.Text = append(built.Pins.Text, regexp.MustCompile(text))
	}
	if p.Ladder != nil {
		built.Ladder = []compact.Stage{}
		for _, rung := range p.Ladder {
			built.Ladder = append(built.Ladder, must(stage.New(rung.Name, rung.Options)))
		}
	}
	return built
}
