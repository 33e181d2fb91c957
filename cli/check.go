package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"laconic/compact"
	"laconic/config"
	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/proxy/why"
	"laconic/tokenize"
)

func checkCommand() *cobra.Command {
	var s settings
	var jsonOut bool
	var model string
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "check a configuration file: every error at once, with its place",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				s.config = args[0]
			}
			c, err := config.Load(s.config, s.overrides(cmd)...)
			if err == nil && model != "" {
				return explain(c, cmd.Context(), cmd.OutOrStdout(), model)
			}
			if err == nil {
				err = c.CheckFiles()
			}
			if code := printConfig(cmd.OutOrStdout(), c, err, jsonOut); code != 0 {
				return exitError(code)
			}
			return nil
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print the problems as JSON")
	cmd.Flags().StringVar(&model, "explain", "", "say what requests for this `MODEL` may cost, and where its window comes from")
	return cmd
}

// printConfig prints what config.Load returned: what is wrong with a configuration, or what
// it comes to. The result is the exit code: 0 valid, 1 not. With jsonOut the output is a
// JSON array of problems, empty for a valid configuration.
func printConfig(w io.Writer, c *config.Config, err error, jsonOut bool) int {
	var ps config.Problems
	if err != nil && !errors.As(err, &ps) {
		ps = config.Problems{{File: c.File(), Code: "file", Message: err.Error()}}
	}
	switch {
	case jsonOut:
		_ = printJSON(w, append(config.Problems{}, ps...))
	case len(ps) > 0:
		fmt.Fprintf(w, "%s\n\n%s\n", ps.Error(), number.Count(len(ps), "problem"))
	default:
		var b strings.Builder
		describe(c, &b)
		for _, line := range config.SplitLines(strings.TrimSuffix(b.String(), "\n")) {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
	if len(ps) > 0 {
		return 1
	}
	return 0
}

// hints returns what may have been meant otherwise.
func hints(c *config.Config) []config.Hint {
	all := append(c.Hints(), unsummarized(c)...)
	for _, m := range c.Models {
		if small := why.Small("Ollama", m.Match, m.Window); small.Says != "" && strings.Contains(cmp.Or(m.Upstream, c.Upstream), ":11434") {
			all = append(all, config.Hint(small))
		}
	}
	return all
}

// hintLines returns the hints of a configuration, a line each.
func hintLines(c *config.Config) (lines []string) {
	for _, h := range hints(c) {
		lines = append(lines, h.String())
	}
	return lines
}

// describe prints what a valid configuration comes to, without its secrets.
func describe(c *config.Config, w io.Writer) {
	name := "no file, every setting has its default"
	if c.File() != "" {
		name = c.File() + " is valid"
	}
	fmt.Fprintf(w, "%s\n\n", name)
	reach := "this machine only"
	switch {
	case len(c.ClientKeys) > 0:
		reach = "for holders of " + number.Count(len(c.ClientKeys), "client key")
	case !access.Loopback(c.Listen):
		reach = "open to other machines, without client_keys"
	}
	if c.TLS.Cert != "" {
		reach += ", TLS"
	}
	admin := "this machine only"
	if c.Admin == "" {
		admin = ""
	} else if c.AdminToken != "" {
		admin = "with admin_token"
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "listen\t%s\t%s\nadmin\t%s\t%s\nupstream\t%s\n", c.Listen, reach, cmp.Or(c.Admin, "off"), admin, config.ShownURL(c.Upstream))
	fmt.Fprintf(t, "overrides\t%s\t\nlimits\tbody %s, memory %s\t\nsummaries\t%s\t\n", onOff(c.OverridesOn()), c.Limits.Body, c.Limits.Memory, summaryWords(c))
	if where := storeWords(c); where != "" {
		fmt.Fprintf(t, "store\t%s\t\n", where)
	}
	fmt.Fprintf(t, "sealing\t%s\t\nlog\t%s, %s\t\n", sealWords(c), c.Log.Level, c.Log.Format)
	_ = t.Flush()

	for _, hint := range hintLines(c) {
		fmt.Fprintln(w, "\nhint: "+hint)
	}

	fmt.Fprint(w, "\nmodels, the first row that matches\n")
	fmt.Fprintln(t, "  "+strings.Join(rowTitles, "\t"))
	rows := rowsOf(c)
	for i, m := range rows {
		fmt.Fprintln(t, "  "+strings.Join(rowCells(c, i, m), "\t"))
	}
	_ = t.Flush()
	for _, m := range rows {
		if words := modeWords(m); words != "" {
			fmt.Fprintf(w, "  %s: %s\n", m.Match, words)
		}
	}

	fmt.Fprint(w, "\npolicies\n")
	built, err := buildPolicies(c)
	if err != nil {
		fmt.Fprintf(w, "  %v\n", err) // unreachable: the configuration is valid
		return
	}
	for _, name := range slices.Sorted(maps.Keys(built)) {
		if !usesPolicy(c, name) {
			continue
		}
		fmt.Fprintf(w, "  %s\n", name)
		for _, line := range policyLines(c, name, built[name]) {
			fmt.Fprintln(w, "    "+line)
		}
	}
}

// rowsOf returns the rows of models, the last of which holds for all others.
func rowsOf(c *config.Config) []config.Model {
	rows := slices.Clone(c.Models)
	if !slices.ContainsFunc(rows, config.Model.Everything) {
		rows = append(rows, config.Model{Match: "(all others)"})
	}
	return rows
}

// rowTitles are the titles of the cells of a row of models.
var rowTitles = []string{"match", "window", "budget", "policy", "tokenizer", "upstream", "key"}

func rowCells(c *config.Config, i int, m config.Model) []string {
	return []string{
		m.Match, windowWords(c, m), budgetWords(c, m), cmp.Or(m.Policy, config.DefaultPolicy),
		cmp.Or(m.Tokenizer, "by name"), config.ShownURL(cmp.Or(m.Upstream, c.Upstream)), keyWords(c, i, m),
	}
}

// usesPolicy reports whether the file has a policy, or a row uses it.
func usesPolicy(c *config.Config, name string) bool {
	return c.Has("policies."+name) || name == config.DefaultPolicy || slices.ContainsFunc(c.Models, func(m config.Model) bool { return m.Policy == name })
}

// policyLines describes a policy.
func policyLines(c *config.Config, name string, built *compact.Policy) (lines []string) {
	p := c.Policies[name]
	if p.Algorithm() != "" {
		options := string(optionsOf(c, p))
		if c.FromEnvironment("policies." + name + ".options") {
			options = "with options from the environment"
		}
		lines = []string{
			"as      " + strings.TrimSpace(p.Algorithm()+" "+options),
			fmt.Sprintf("repair  %s, on overflow %s", p.Repair, p.OnOverflow),
		}
	} else {
		keep := fmt.Sprintf("%v of the room, at most %d tokens, at least %s", p.KeepRecent.Share, p.KeepRecent.Tokens, number.Count(p.KeepRecent.Exchanges, "exchange"))
		if n := p.KeepRecent.Messages; n > 0 {
			keep = number.Count(n, "message") + " at the end"
		}
		var stages []string
		for _, s := range built.Ladder {
			stages = append(stages, s.Name())
		}
		lines = []string{
			fmt.Sprintf("trigger %s, land %v, repair %s, on overflow %s", p.Trigger, p.Land, p.Repair, p.OnOverflow),
			"keeps   " + keep,
			"ladder  " + cmp.Or(strings.Join(stages, " > "), "none: repair only"),
		}
	}
	if pins := pinWords(p.Pin); pins != "" {
		lines = append(lines, "pins    "+pins)
	}
	return lines
}

// pinWords lists what is pinned; "" for nothing. The texts may be private.
func pinWords(p config.Pin) string {
	var words []string
	if len(p.Roles) > 0 {
		words = append(words, "role "+strings.Join(p.Roles, ", "))
	}
	if n := len(p.Text); n > 0 {
		words = append(words, number.Count(n, "expression"))
	}
	if len(p.Tools) > 0 {
		words = append(words, "tool "+strings.Join(p.Tools, ", "))
	}
	return strings.Join(words, "; ")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// windowWords returns the window of a row. That of a pattern depends on
// the model's name.
func windowWords(c *config.Config, m config.Model) string {
	if m.Window > 0 {
		return fmt.Sprint(m.Window)
	}
	if n, _, ok := tokenize.Window(m.Match); ok && !strings.Contains(m.Match, "*") && m.Match != "(all others)" {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("by name, else %d", c.DefaultWindow)
}

// modeWords returns which requests of a row go out unchanged, and what becomes of
// system messages where the file says that; "" if it says nothing.
func modeWords(m config.Model) string {
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
	if m.SystemMessages != "" {
		words = append(words, "system messages: "+m.SystemMessages)
	}
	return strings.Join(words, "; ")
}

// budgetWords returns what a prompt of a row may cost, before the upstream refused
// one together with the answer that was asked for.
func budgetWords(c *config.Config, m config.Model) string {
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
	return fmt.Sprint(withTable(limitsOf(m), m.Match, c.DefaultWindow).For(0).Tokens)
}

// keyWords returns whose key a row sends.
func keyWords(c *config.Config, i int, m config.Model) string {
	if m.APIKey != "" {
		if name := c.Variable(fmt.Sprintf("models[%d].api_key", i)); name != "" {
			return "api_key from " + name
		}
		return "api_key"
	}
	return "the client's"
}
