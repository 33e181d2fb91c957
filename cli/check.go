package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"laconic/compact"
	"laconic/config"
	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/discover"
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
			return printConfig(cmd.OutOrStdout(), c, err, jsonOut)
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print the problems as JSON")
	cmd.Flags().StringVar(&model, "explain", "", "say what requests for this `MODEL` may cost, and where its window comes from")
	return cmd
}

// printConfig prints what config.Load returned: what is wrong with a configuration, or what
// it comes to. The result is the exit code of one that is not valid. With jsonOut the output
// is a JSON array of problems, empty for a valid configuration.
func printConfig(w io.Writer, c *config.Config, err error, jsonOut bool) error {
	ps := config.ProblemsOf(c.File, err)
	switch {
	case jsonOut:
		_ = printJSON(w, append(config.Problems{}, ps...))
	case len(ps) > 0:
		fmt.Fprintf(w, "%s\n\n%s\n", ps.Error(), number.Count(len(ps), "problem"))
	default:
		fmt.Fprint(w, description(c))
	}
	if len(ps) > 0 {
		return exitError(1)
	}
	return nil
}

// hintLines returns the hints of a configuration, a line each.
func hintLines(c *config.Config) (lines []string) {
	for _, h := range c.Hints() {
		lines = append(lines, h.String())
	}
	return lines
}

// description returns what a valid configuration comes to, without its secrets.
func description(c *config.Config) string {
	text := "no file, every setting has its default\nlooked for: " + strings.Join(config.Places(), ", ") + "\n\n"
	if c.File != "" {
		text = c.File + " is valid\n\n"
	}
	for _, hint := range hintLines(c) {
		text += "hint: " + hint + "\n\n"
	}
	return text + c.Shown() + "# sealing: " + sealWords(c) + "\n"
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

// explain prints what requests for one model may cost, and why: which row
// matches, where its window comes from, the numbers that follow. The upstream is
// asked, with the key of the row or with none.
func explain(c *config.Config, ctx context.Context, w io.Writer, model string) error {
	o := proxyOptions(c)
	route, given := o.RouteFor(model), c.RowOf(model)
	fmt.Fprintf(w, "%s\n", model)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row := "no row of models"
	if given.Match != "" {
		row = fmt.Sprintf("%q", given.Match)
	}
	line("row", "%s", row)
	line("upstream", "%s", config.ShownURL(cmp.Or(given.Upstream, c.Upstream)))
	if route.Key != "" {
		line("credential", "the api_key of the row, instead of the client's")
		line("served", "%s", access.ServedWithKey())
	} else {
		line("credential", "the client's own")
	}
	if words := modeWords(given); words != "" {
		line("requests", "%s", words)
	}
	limits, runs := explainWindow(ctx, route, given, model, line)
	b := limits.For(0)
	if given.Budget == 0 {
		line("reserve", "%d for the answer; what a request asks for, once the upstream refused both together", limits.Window-compact.Limits{Window: limits.Window, Reserve: limits.Reserve}.For(0).Tokens)
	}
	line("budget", "%d tokens of prompt, %d messages", b.Tokens, b.Messages)
	trigger := route.Policy.TriggerFor(route.Counter)
	line("compacts", "above %d tokens (%v of the budget), by the policy %s", int(trigger*float64(b.Tokens)), trigger, cmp.Or(given.Policy, config.DefaultPolicy))
	line("counted by", "%s", cmp.Or(given.Tokenizer, tokenize.For(model).Serving(runs.Name, runs.Vocabulary, runs.Template).Name()))
	_ = t.Flush()
	fmt.Fprint(w, "\nThe proxy learns limits from refusals while it runs: see /readyz?verbose on the admin address.\n")
	return nil
}

// explainWindow prints where the window of a model comes from, and returns the limits
// that hold, and what the upstream says that it runs.
func explainWindow(ctx context.Context, route *proxy.Route, given config.Model, model string, line func(name, format string, args ...any)) (compact.Limits, compact.Runs) {
	var published compact.Published
	from, silent := "", "the upstream is not asked"
	if route.Discover && !route.Configured {
		var found discover.Found
		if !discover.Silent(route.Upstream) {
			found = look(ctx, route.Upstream, string(route.Key), doctorTime)
		}
		published, from, silent = found.Published(model), found.From, "the upstream tells none"
		switch {
		case published.Input > 0:
			silent = "the upstream tells a prompt limit alone"
		case found.Err != nil:
			silent = "the upstream could not be reached (" + apierror.Reason(found.Err) + ")"
		case found.Status == http.StatusNotFound && !discover.Versioned(route.Upstream):
			silent = "the upstream answers 404 to GET /models; most servers have their API below /v1"
		}
	}
	limits := route.Limits.With(published)
	table, input, known := tokenize.Window(model)
	switch {
	case given.Budget > 0:
		line("window", "not used: the row has a budget")
	case given.Window > 0:
		line("window", "%d, configured", given.Window)
	case published.Window > 0:
		line("window", "%d, told by the upstream (%s)", published.Window, from)
	case limits.Window > route.Limits.Window:
		line("window", "%d at least, as the prompt limit that the upstream tells", limits.Window)
	case known:
		line("window", "%d, by the model's name; %s", table, silent)
	default:
		line("window", "%d, default_window; %s", limits.Window, silent)
	}
	if known && (given.Window > 0 || limits.Window != table) {
		line("", "by the model's name it would be %d", table)
	}
	if given.Budget == 0 && limits.Input > 0 {
		source := "configured"
		switch limits.Input {
		case given.Input:
		case published.Input:
			source = fmt.Sprintf("told by the upstream (%s)", from)
		case input:
			source = "by the model's name"
		}
		line("prompt limit", "%d, %s", limits.Input, source)
	}
	return limits, published.Runs
}
