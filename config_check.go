package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"laconic/compact"
	"laconic/proxy"
	"laconic/tokenize"
)

// checkConfig checks a configuration and prints what is wrong with it, or what
// it comes to. A path of "" means what Load means by it. The result is the exit
// code: 0 valid, 1 not. With jsonOut the output is a JSON array of problems,
// empty for a valid configuration.
func checkConfig(w io.Writer, path string, jsonOut bool, over ...Override) int {
	c, err := Load(path, over...)
	if err == nil {
		err = c.CheckFiles()
	}
	return tellConfig(w, c, err, jsonOut)
}

// tellConfig prints what Load gave.
func tellConfig(w io.Writer, c *Config, err error, jsonOut bool) int {
	var ps Problems
	if err != nil && !errors.As(err, &ps) {
		ps = Problems{{File: c.file, Code: codeFile, Message: err.Error()}}
	}
	switch {
	case jsonOut:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		_ = e.Encode(append(Problems{}, ps...))
	case len(ps) > 0:
		fmt.Fprintf(w, "%s\n\n%s\n", ps.Error(), count(len(ps), "problem"))
	default:
		var b strings.Builder
		c.describe(&b)
		for _, line := range splitLines(strings.TrimSuffix(b.String(), "\n")) {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
	if len(ps) > 0 {
		return 1
	}
	return 0
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// describe prints what a valid configuration comes to, without its secrets.
func (c *Config) describe(w io.Writer) {
	name := "no file, every setting has its default"
	if c.file != "" {
		name = c.file + " is valid"
	}
	fmt.Fprintf(w, "%s\n\n", name)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	reach := "this machine only"
	switch {
	case len(c.ClientKeys) > 0:
		reach = "for holders of " + count(len(c.ClientKeys), "client key")
	case !loopbackAddress(c.Listen):
		reach = "open to other machines, without client_keys"
	}
	if c.TLS.Cert != "" {
		reach += ", TLS"
	}
	fmt.Fprintf(t, "listen\t%s\t%s\n", c.Listen, reach)
	admin := "off"
	if c.Admin != "" {
		admin = c.Admin
	}
	fmt.Fprintf(t, "admin\t%s\t%s\n", admin, c.adminReach())
	fmt.Fprintf(t, "upstream\t%s\n", shownURL(c.Upstream))
	fmt.Fprintf(t, "overrides\t%s\t\n", onOff(c.OverridesOn()))
	fmt.Fprintf(t, "limits\tbody %s, memory %s\t\n", c.Limits.Body, c.Limits.Memory)
	fmt.Fprintf(t, "summaries\t%s\t\n", c.summaryWords())
	fmt.Fprintf(t, "log\t%s, %s\t\n", c.Log.Level, c.Log.Format)
	_ = t.Flush()

	for _, hint := range append(c.hints(), c.unreadKey()...) {
		fmt.Fprintln(w, "\nhint: "+hint)
	}

	fmt.Fprint(w, "\nmodels, the first row that matches\n")
	t = tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprint(t, "  match\twindow\tbudget\tpolicy\ttokenizer\tupstream\tkey\n")
	rows := slices.Clone(c.Models)
	if !slices.ContainsFunc(rows, ModelConfig.everything) {
		rows = append(rows, ModelConfig{Match: "(all others)"})
	}
	for i, m := range rows {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Match, c.windowWords(m), c.budgetWords(m), orElse(m.Policy, defaultPolicy),
			orElse(m.Tokenizer, "by name"), shownURL(orElse(m.Upstream, c.Upstream)), c.keyWords(i, m))
	}
	_ = t.Flush()
	for _, m := range rows {
		if words := m.modeWords(); words != "" {
			fmt.Fprintf(w, "  %s: %s\n", m.Match, words)
		}
	}

	fmt.Fprint(w, "\npolicies\n")
	built, err := c.policies()
	if err != nil {
		fmt.Fprintf(w, "  %v\n", err) // unreachable: the configuration is valid
		return
	}
	for _, name := range slices.Sorted(maps.Keys(built)) {
		p := c.Policies[name]
		used := slices.ContainsFunc(c.Models, func(m ModelConfig) bool { return m.Policy == name })
		if !used && !c.named("policies."+name) && name != defaultPolicy {
			continue
		}
		fmt.Fprintf(w, "  %s\n", name)
		if p.algorithm != "" {
			options := string(c.optionsOf(p))
			if c.expanded("policies." + name + ".options") {
				options = "with options from the environment"
			}
			fmt.Fprintf(w, "    as      %s\n    repair  %s, on overflow %s\n", strings.TrimSpace(p.algorithm+" "+options), p.Repair, p.OnOverflow)
		} else {
			fmt.Fprint(w, p.describe(built[name]))
		}
		if pins := p.Pin.words(); pins != "" {
			fmt.Fprintf(w, "    pins    %s\n", pins)
		}
	}
}

// The variables that OpenAI's libraries read. In the environment of the proxy
// they are those of its clients, so they are not read here.
const (
	clientsBase = "OPENAI_BASE_URL"
	clientsKey  = "OPENAI_API_KEY"
)

// standsFor reports whether a base URL leads to this proxy, as a client's should,
// or the configuration says where requests go.
func (c *Config) standsFor(base string) bool {
	u, err := url.Parse(base)
	return c.named("upstream") || err == nil && pointsAt(u, c.Listen)
}

// hints are what may be meant otherwise: an upstream without a path, as most
// have their API below /v1; a variable that is not read.
func (c *Config) hints() (hints []string) {
	all := []string{c.Upstream}
	for _, m := range c.Models {
		if m.Upstream != "" && !slices.Contains(all, m.Upstream) {
			all = append(all, m.Upstream)
		}
	}
	for _, upstream := range all {
		if u, err := url.Parse(upstream); err == nil && strings.Trim(u.Path, "/") == "" {
			hints = append(hints, fmt.Sprintf("chat requests go to %s; most servers have them below /v1 (upstream: %s)",
				shownURL(u.JoinPath("chat", "completions").String()), shownURL(u.JoinPath("v1").String())))
		}
	}
	if slices.Contains(c.unread, clientsBase) {
		hints = append(hints, clientsBase+" is for clients and not read here: requests go to "+shownURL(c.Upstream)+" (elsewhere: --upstream)")
	}
	return append(hints, c.unsummarized()...)
}

// unreadKey says that the key in the environment is not read, where it may be
// missed: no row has a key.
func (c *Config) unreadKey() []string {
	if !slices.Contains(c.unread, clientsKey) || slices.ContainsFunc(c.Models, func(m ModelConfig) bool { return m.APIKey != "" }) {
		return nil
	}
	return []string{clientsKey + " is for clients and not read here: their own key goes to the upstream (one of the proxy's: api_key: ${" + clientsKey + "} in a row of models)"}
}

// describe says how a policy compacts that is adaptive, or extends it.
func (p PolicyConfig) describe(built *compact.Policy) string {
	keep := fmt.Sprintf("%v of the room, at most %d tokens, at least %s", p.KeepRecent.Share, p.KeepRecent.Tokens, count(p.KeepRecent.Exchanges, "exchange"))
	if n := p.KeepRecent.Messages; n > 0 {
		keep = count(n, "message") + " at the end"
	}
	var stages []string
	for _, s := range built.Ladder {
		stages = append(stages, s.Name())
	}
	if len(stages) == 0 {
		stages = []string{"none: repair only"}
	}
	return fmt.Sprintf("    trigger %s, warm %v, land %v, repair %s, on overflow %s, placement %s\n    keeps   %s\n    ladder  %s\n",
		p.Trigger, p.Warm, p.Land, p.Repair, p.OnOverflow, p.Placement, keep, strings.Join(stages, " > "))
}

// words lists what is pinned; "" for nothing. The texts may be private.
func (p PinConfig) words() string {
	var words []string
	if len(p.Roles) > 0 {
		words = append(words, "role "+strings.Join(p.Roles, ", "))
	}
	if n := len(p.Text); n > 0 {
		words = append(words, count(n, "expression"))
	}
	if len(p.Tools) > 0 {
		words = append(words, "tool "+strings.Join(p.Tools, ", "))
	}
	return strings.Join(words, "; ")
}

func (c *Config) adminReach() string {
	switch {
	case c.Admin == "":
		return ""
	case c.AdminToken != "":
		return "with admin_token"
	}
	return "this machine only"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// windowWords says which window holds for a row. That of a pattern depends on
// the model's name.
func (c *Config) windowWords(m ModelConfig) string {
	if m.Window > 0 {
		return fmt.Sprint(m.Window)
	}
	if n, _, ok := tokenize.Window(m.Match); ok && !strings.Contains(m.Match, "*") && m.Match != "(all others)" {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("by name, else %d", c.DefaultWindow)
}

// modeWords says which requests of a row go out as they came; "" for none.
func (m ModelConfig) modeWords() string {
	var words []string
	switch m.Mode {
	case proxy.ModeOff:
		words = append(words, "mode off, sent as they came")
	case proxy.ModeShadow:
		words = append(words, "mode shadow, measured and sent as they came")
	}
	if m.MinBody > 0 && m.Mode != proxy.ModeOff {
		words = append(words, "bodies below "+m.MinBody.String()+" sent as they came")
	}
	return strings.Join(words, "; ")
}

// budgetWords says what a prompt may cost at a row, before the request asks for
// more room for its answer.
func (c *Config) budgetWords(m ModelConfig) string {
	if m.Budget > 0 {
		return fmt.Sprint(m.Budget)
	}
	exact := m.Window > 0
	if !exact && !strings.Contains(m.Match, "*") {
		_, _, exact = tokenize.Window(m.Match)
	}
	if !exact {
		if m.Reserve > 0 {
			return fmt.Sprintf("window - %d", m.Reserve)
		}
		return "window - reserve"
	}
	return fmt.Sprint(withTable(m.limits(), m.Match, c.DefaultWindow).For(0).Tokens)
}

// keyWords says whose key goes where.
func (c *Config) keyWords(i int, m ModelConfig) string {
	if m.APIKey != "" {
		if p := c.places[fmt.Sprintf("models[%d].api_key", i)]; p.node != nil && environmentName.MatchString(p.node.Value) {
			return "api_key from " + p.node.Value
		}
		return "api_key"
	}
	return "the client's"
}

// shownURL is a URL without what may be secret in it.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "?"
	}
	if u.RawQuery != "" {
		u.RawQuery = mask
	}
	return u.Redacted()
}
