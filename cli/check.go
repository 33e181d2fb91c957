package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

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
			c, err := s.load(cmd)
			if err == nil && model != "" {
				return explain(c, cmd.Context(), cmd.OutOrStdout(), model)
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
	ps := config.ProblemsOf(c.File(), err)
	switch {
	case jsonOut:
		_ = printJSON(w, append(config.Problems{}, ps...))
	case len(ps) > 0:
		fmt.Fprintf(w, "%s\n\n%s\n", ps.Error(), number.Count(len(ps), "problem"))
	default:
		fmt.Fprint(w, description(c))
	}
	if len(ps) > 0 {
		return 1
	}
	return 0
}

// hints returns what may have been meant otherwise.
func hints(c *config.Config) []config.Hint {
	all := c.Hints()
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

// description returns what a valid configuration comes to, without its secrets.
func description(c *config.Config) string {
	var w strings.Builder
	name := "no file, every setting has its default"
	if c.File() != "" {
		name = c.File() + " is valid"
	}
	fmt.Fprintf(&w, "%s\n\n", name)
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
	t := tabwriter.NewWriter(&w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "listen\t%s\t%s\nadmin\t%s\t%s\nupstream\t%s\n", c.Listen, reach, cmp.Or(c.Admin, "off"), admin, config.ShownURL(c.Upstream))
	fmt.Fprintf(t, "overrides\t%s\t\nlimits\tbody %s, memory %s\t\nsummaries\t%s\t\n", map[bool]string{true: "on", false: "off"}[c.OverridesOn()], c.Limits.Body, c.Limits.Memory, summaryWords(c))
	if where := storeWords(c); where != "" {
		fmt.Fprintf(t, "store\t%s\t\n", where)
	}
	fmt.Fprintf(t, "sealing\t%s\t\nlog\t%s, %s\t\n", sealWords(c), c.Log.Level, c.Log.Format)
	_ = t.Flush()

	for _, hint := range hintLines(c) {
		fmt.Fprintln(&w, "\nhint: "+hint)
	}

	fmt.Fprint(&w, "\nmodels, the first row that matches\n")
	fmt.Fprintln(t, "  match\twindow\tbudget\tpolicy\ttokenizer\tupstream\tkey\trequests")
	for i, m := range rowsOf(c) {
		window, budget := limitWords(c, m)
		fmt.Fprintln(t, "  "+strings.Join([]string{
			m.Match, window, budget, cmp.Or(m.Policy, config.DefaultPolicy), cmp.Or(m.Tokenizer, "by name"),
			config.ShownURL(cmp.Or(m.Upstream, c.Upstream)), keyWords(c, i, m), modeWords(m),
		}, "\t"))
	}
	_ = t.Flush()

	fmt.Fprint(&w, "\npolicies\n")
	built := buildPolicies(c)
	for _, name := range slices.Sorted(maps.Keys(built)) {
		if c.Has("policies."+name) || name == config.DefaultPolicy || slices.ContainsFunc(c.Models, func(m config.Model) bool { return m.Policy == name }) {
			describePolicy(&w, c, name, built[name])
		}
	}
	lines := strings.Split(strings.Map(printable, w.String()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// rowsOf returns the rows of models, the last of which holds for all others.
func rowsOf(c *config.Config) []config.Model {
	rows := slices.Clone(c.Models)
	if !slices.ContainsFunc(rows, config.Model.Everything) {
		rows = append(rows, config.Model{Match: "(all others)"})
	}
	return rows
}

// printable replaces what would disturb a terminal.
func printable(r rune) rune {
	if r != '\n' && !unicode.IsPrint(r) {
		return '\uFFFD'
	}
	return r
}

// describePolicy prints a policy.
func describePolicy(w io.Writer, c *config.Config, name string, built *compact.Policy) {
	p := c.Policies[name]
	fmt.Fprintf(w, "  %s\n", name)
	if p.Algorithm() != "" {
		fmt.Fprintf(w, "    as      %s\n    repair  %s, on overflow %s\n", strings.TrimSpace(p.Algorithm()+" "+string(optionsOf(c, p))), p.Repair, p.OnOverflow)
	} else {
		keep := fmt.Sprintf("%v of the room, at most %d tokens, at least %s", p.KeepRecent.Share, p.KeepRecent.Tokens, number.Count(p.KeepRecent.Exchanges, "exchange"))
		if n := p.KeepRecent.Messages; n > 0 {
			keep = number.Count(n, "message") + " at the end"
		}
		var stages []string
		for _, s := range built.Ladder {
			stages = append(stages, s.Name())
		}
		fmt.Fprintf(w, "    trigger %s, land %v, repair %s, on overflow %s\n    keeps   %s\n    ladder  %s\n",
			p.Trigger, p.Land, p.Repair, p.OnOverflow, keep, cmp.Or(strings.Join(stages, " > "), "none: repair only"))
	}
	if pins := pinWords(p.Pin); pins != "" {
		fmt.Fprintf(w, "    pins    %s\n", pins)
	}
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

// limitWords returns the window of a row, and what a prompt may cost before the upstream
// refused one together with the answer that was asked for. Those of a pattern depend on
// the model's name.
func limitWords(c *config.Config, m config.Model) (window, budget string) {
	l := withTable(limitsOf(m), m.Match, c.DefaultWindow)
	window, budget = fmt.Sprint(l.Window), fmt.Sprint(l.For(0).Tokens)
	if _, _, known := tokenize.Window(m.Match); m.Window > 0 || known && !strings.Contains(m.Match, "*") {
		return window, budget
	}
	switch {
	case m.Budget > 0:
	case m.Reserve > 0:
		budget = fmt.Sprintf("window - %d", m.Reserve)
	default:
		budget = "window - reserve"
	}
	return fmt.Sprintf("by name, else %d", c.DefaultWindow), budget
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
