package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"

	"laconic/compact"
	"laconic/config"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/learn"
	"laconic/tokenize"
)

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
	limits := explainWindow(ctx, route, given, model, line)
	b := limits.For(0)
	if given.Budget == 0 {
		line("reserve", "%d for the answer; what a request asks for, once the upstream refused both together", limits.Window-compact.Limits{Window: limits.Window, Reserve: limits.Reserve}.For(0).Tokens)
	}
	line("budget", "%d tokens of prompt, %d messages", b.Tokens, b.Messages)
	trigger := route.Policy.TriggerFor(route.Counter)
	line("compacts", "above %d tokens (%v of the budget), by the policy %s", int(trigger*float64(b.Tokens)), trigger, cmp.Or(given.Policy, config.DefaultPolicy))
	line("counted by", "%s", cmp.Or(given.Tokenizer, tokenize.For(model).Name()))
	_ = t.Flush()
	fmt.Fprint(w, "\nThe proxy learns limits from refusals while it runs: see /readyz?verbose on the admin address.\n")
	return nil
}

// explainWindow prints where the window of a model comes from, and returns the limits
// that hold.
func explainWindow(ctx context.Context, route *proxy.Route, given config.Model, model string, line func(name, format string, args ...any)) compact.Limits {
	var told compact.Published
	from, silent := "", "the upstream is not asked"
	if route.Discover && !route.Configured {
		var found learn.Found
		if !learn.Silent(route.Upstream) {
			found = look(ctx, route.Upstream, string(route.Key), doctorTime)
		}
		told, from, silent = found.Published(model), found.From, "the upstream tells none"
		switch {
		case told.Input > 0:
			silent = "the upstream tells a prompt limit alone"
		case found.Err != nil:
			silent = "the upstream could not be reached (" + apierror.Reason(found.Err) + ")"
		case found.Status == http.StatusNotFound && !learn.Versioned(route.Upstream):
			silent = "the upstream answers 404 to GET /models; most servers have their API below /v1"
		}
	}
	limits := route.Limits.With(told)
	table, input, known := tokenize.Window(model)
	switch {
	case given.Budget > 0:
		line("window", "not used: the row has a budget")
	case given.Window > 0:
		line("window", "%d, configured", given.Window)
	case told.Window > 0:
		line("window", "%d, told by the upstream (%s)", told.Window, from)
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
		case told.Input:
			source = fmt.Sprintf("told by the upstream (%s)", from)
		case input:
			source = "by the model's name"
		}
		line("prompt limit", "%d, %s", limits.Input, source)
	}
	return limits
}
