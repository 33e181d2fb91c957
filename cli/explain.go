package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"laconic/compact"
	"laconic/config"
	"laconic/counting"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/tokenize"
)

// explainTime is how long the upstream may take to state its windows.
const explainTime = 10 * time.Second

// explain prints what requests for one model may cost, and why: which row
// matches, where its window comes from, the numbers that follow. The upstream is
// asked, with the key of the row or with none.
func explain(c *config.Config, ctx context.Context, w io.Writer, model string) error {
	o, err := proxyOptions(c, counting.For)
	if err != nil {
		return err
	}
	p, err := proxy.New(o)
	if err != nil {
		return err
	}
	defer p.Close()
	route := o.RouteFor(model)
	limits := route.Limits
	table, input, known := tokenize.Window(model)
	row, given := "no row of models", c.RowOf(model)
	if given.Match != "" {
		row = fmt.Sprintf("%q", given.Match)
	}

	fmt.Fprintf(w, "%s\n", model)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
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
	told, from, why := ask(c, ctx, p, route, model)
	limits = limits.With(told)
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
		line("window", "%d, by the model's name; %s", table, why)
	default:
		line("window", "%d, default_window; %s", limits.Window, why)
	}
	if known && (given.Window > 0 || limits.Window != table) {
		line("", "by the model's name it would be %d", table)
	}
	if given.Budget == 0 && limits.Input > 0 {
		source := "configured"
		switch {
		case limits.Input == given.Input:
		case limits.Input == told.Input:
			source = fmt.Sprintf("told by the upstream (%s)", from)
		case limits.Input == input:
			source = "by the model's name"
		}
		line("prompt limit", "%d, %s", limits.Input, source)
	}
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

// ask asks the upstream of a route for a window, where nobody configured one.
// why is the reason if the upstream stated no window.
func ask(c *config.Config, ctx context.Context, p *proxy.Proxy, route *proxy.Route, model string) (told compact.Published, from, why string) {
	if !route.Discover || route.Configured {
		return compact.Published{}, "", "the upstream is not asked"
	}
	asking, stop := context.WithTimeout(ctx, explainTime)
	defer stop()
	if told, from = p.Discover(asking, route, model); told.Input > 0 {
		return told, from, "the upstream tells a prompt limit alone"
	}
	if from == "" {
		why = p.Trouble(ctx, route)
	}
	return told, from, cmp.Or(why, "the upstream tells none")
}
