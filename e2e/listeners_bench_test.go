package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"laconic/proxy/wire"
)

// listenerRounds is how many rounds the median is of. They are short and many: what
// else runs on the machine then hits few of them, or all four of one alike.
const listenerRounds = 40

// BenchmarkListeners prints what the metrics and the page cost, and traces beside
// them, in time that the processors worked for the process of the proxy. Two
// processes have none: how they differ is what the machine does to such a figure.
// Each size is measured untouched, and folded into a third of its tokens where that is
// what a window may ask for; in rounds in which all four have their turn, and each ratio
// is the median of the ratios of the rounds.
func BenchmarkListeners(b *testing.B) {
	upstream := httptest.NewServer(answersOverhead(b))
	defer upstream.Close()
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	start := func(admin, env string) *processAt {
		return measuredProxy(b, []string{"serve", "--upstream", upstream.URL + "/v1", "--listen", "127.0.0.1:0", "--admin", admin}, command(b), env)
	}
	without, again := start("off", ""), start("off", "")
	with, traced := start("127.0.0.1:0", ""), start("127.0.0.1:0", "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	var table strings.Builder
	fmt.Fprintf(&table, "CPU per request, medians of %d rounds\n%-14s %12s %12s %12s %12s   %s\n", listenerRounds*b.N,
		"body", "without", "again", "with", "and traces", "each ÷ without, and half of what the middle half of its rounds spans")
	for _, folded := range []bool{false, true} {
		for _, size := range overheadSizes {
			body, name, outcome, budget := size.body(), size.name, "untouched", 100_000_000
			if size.endpoint == "/messages" || folded && len(body) < 30<<10 {
				continue // the wire changes nothing here, and a short history fits every window
			}
			if folded {
				r, err := wire.Chat.Decode(body)
				if err != nil {
					b.Fatal(err)
				}
				name, outcome, budget = size.name+", folded", "compacted", costOf(b, r, "gpt-4o")/3
			}
			var kinds []*measuredKind
			for _, to := range []*processAt{without, again, with, traced} {
				k := &measuredKind{to: to, endpoint: size.endpoint, budget: budget, outcome: outcome}
				for range 20 {
					k.send(b, body)
				}
				to.settle()
				kinds = append(kinds, k)
			}
			measureInTurn(b, kinds, listenerRounds*b.N, max(3, size.requests/4), body)
			fmt.Fprintf(&table, "%-14s", name)
			for _, k := range kinds {
				fmt.Fprintf(&table, " %9.0f µs", middle(k.took))
			}
			table.WriteString("  ")
			for _, k := range kinds[1:] {
				each := ratios(k, kinds[0])
				fmt.Fprintf(&table, " %.3f ± %.3f", middle(each), spread(each))
			}
			table.WriteString("\n")
		}
	}
	b.ReportMetric(0, "ns/op")
	fmt.Print("\n" + table.String())
}
