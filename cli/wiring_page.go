package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"laconic/cli/findings"
	"laconic/compact"
	"laconic/compact/policy"
	"laconic/config"
	"laconic/proxy"
	"laconic/proxy/page"
	"laconic/store"
)

// newPage returns the page of the admin listener; nil where it is off. now is the
// configuration in force, p the proxy, once there is one, stored what was found of the store,
// and found all that was found.
func newPage(now func() *config.Config, p func() *proxy.Proxy, stored, found func() []findings.Finding) *page.Page {
	c := now()
	if !c.Page || c.Admin == "" {
		return nil
	}
	var of *config.Config
	var prices []page.Price
	replica := ""
	if store.Kind(c.Store.Kind) == store.InRedis {
		replica, _ = os.Hostname()
	}
	return page.New(page.Options{
		Version: version(),
		Replica: replica,
		Capture: int(c.Capture.Size),
		Prices: func() []page.Price { // the page asks from one goroutine at a time
			if c := now(); c != of {
				of, prices = c, pricesOf(c)
			}
			return prices
		},
		Settings:  func() []page.Setting { return settingsShown(now()) },
		Upstreams: func() []proxy.UpstreamState { return p().State().Upstreams },
		Models:    func() []proxy.LearntModel { return p().LearntModels() },
		Store:     func() []page.Finding { return findingsShown(stored()) },
		Findings:  func() []page.Finding { return findingsShown(found()) },
		Asks:      func() bool { return p().AsksForToken() },
		Enter:     func(w http.ResponseWriter, token string) bool { return p().SignIn(w, token) },
		Leave:     func(w http.ResponseWriter) { p().SignOut(w) },
	})
}

func findingsShown(all []findings.Finding) (shown []page.Finding) {
	for _, f := range all {
		shown = append(shown, page.Finding{Bad: f.Bad(), Check: f.Check, State: string(f.State), Says: f.Says, Fix: f.Fix})
	}
	return shown
}

// keyNames returns the names of client keys: the variable that holds a key, else
// its place in the file.
func keyNames(c *config.Config) (names []string) {
	for i := range c.ClientKeys {
		path := fmt.Sprintf("client_keys[%d]", i)
		name := strings.Trim(c.Variable(path), `"'${}`)
		if name == "" {
			name = path
		}
		names = append(names, name)
	}
	return names
}

// quotas returns what gives the holder of a client key its quota by the key's name: that
// of the first row that matches.
func quotas(c *config.Config) func(name string) proxy.Quota {
	of := map[string]proxy.Quota{}
	for _, name := range keyNames(c) {
		i := slices.IndexFunc(c.ClientLimits, func(row config.ClientLimit) bool { return config.CompilePattern(row.Match).Matches(name) })
		if i >= 0 {
			row := &c.ClientLimits[i]
			of[name] = proxy.Quota{RequestsPerMinute: row.RequestsPerMinute, TokensPerMinute: row.TokensPerMinute, TokensPerDay: row.TokensPerDay}
		}
	}
	return func(name string) proxy.Quota { return of[name] }
}

func pricesOf(c *config.Config) (prices []page.Price) {
	for _, row := range c.Prices {
		prices = append(prices, page.Price{
			Matches: config.CompilePattern(row.Match).Matches, Input: row.Input, Cached: row.Cached, Output: row.Output,
		})
	}
	return prices
}

func settingsShown(c *config.Config) (all []page.Setting) {
	for _, s := range c.Settings() {
		if s.Path == "overrides" {
			s.Value = onOff(c.OverridesOn())
		}
		all = append(all, page.Setting(s))
	}
	rows := slices.Clone(c.Models)
	if !slices.ContainsFunc(rows, config.Model.Everything) {
		rows = append(rows, config.Model{Match: "(all others)"})
	}
	for i, m := range rows {
		at := fmt.Sprintf("models[%d]", i)
		if i == len(c.Models) {
			at = "models, all others"
		}
		all = withDefaults(all, at, []page.Setting{
			{Path: "window", Value: windowWords(c, m)},
			{Path: "budget", Value: budgetWords(c, m)},
			{Path: "policy", Value: cmp.Or(m.Policy, config.DefaultPolicy)},
			{Path: "tokenizer", Value: cmp.Or(m.Tokenizer, "by name")},
			{Path: "mode", Value: cmp.Or(m.Mode, proxy.ModeOn)},
			{Path: "upstream", Value: config.ShownURL(cmp.Or(m.Upstream, c.Upstream))},
		})
	}
	built, err := buildPolicies(c)
	if err != nil {
		return all // unreachable: the configuration is valid
	}
	for _, name := range slices.Sorted(maps.Keys(built)) {
		at := "policies." + name
		if usesPolicy(rows, name) || c.Has(at) {
			all = withDefaults(all, at, policyDefaults(c.Policies[name], built[name]))
		}
	}
	return all
}

// usesPolicy reports whether a row uses a policy.
func usesPolicy(rows []config.Model, name string) bool {
	return slices.ContainsFunc(rows, func(m config.Model) bool { return cmp.Or(m.Policy, config.DefaultPolicy) == name })
}

// policyDefaults are what a policy does where the file does not say.
func policyDefaults(p config.Policy, built *compact.Policy) (all []page.Setting) {
	var stages []string
	for _, s := range built.Ladder {
		stages = append(stages, s.Name())
	}
	if p.Algorithm() != "" {
		all = []page.Setting{{Path: "algorithm", Value: p.Algorithm()}}
		for _, n := range policy.Catalogue {
			for _, o := range n.Options {
				if n.Name == p.Algorithm() {
					all = append(all, page.Setting{Path: "options." + o.Name, Value: fmt.Sprint(o.Default)})
				}
			}
		}
		return all
	}
	trigger := p.Trigger.String()
	if p.Trigger == 0 {
		trigger = fmt.Sprintf("%v of the budget where counts are exact, else %v", compact.DefaultTriggerExact, compact.DefaultTriggerEstimate)
	}
	return []page.Setting{{Path: "trigger", Value: trigger}, {Path: "land", Value: fmt.Sprint(p.Land)}, {Path: "ladder", Value: cmp.Or(strings.Join(stages, " > "), "none: repair only")}}
}

// withDefaults adds to settings those of one place that it lacks, behind the others of
// that place.
func withDefaults(all []page.Setting, at string, defaults []page.Setting) []page.Setting {
	end := len(all)
	for i, s := range all {
		if strings.HasPrefix(s.Path, at+".") {
			end = i + 1
		}
	}
	for _, d := range defaults {
		d.Path = at + "." + d.Path
		has := func(s page.Setting) bool {
			return s.Path == d.Path || strings.HasPrefix(s.Path, d.Path+"[") || strings.HasPrefix(s.Path, d.Path+".")
		}
		if i := slices.IndexFunc(all, has); i < 0 {
			all = slices.Insert(all, end, d)
			end++
		} else if all[i].From == "" && all[i].Path == d.Path {
			all[i].Value = d.Value
		}
	}
	return all
}
