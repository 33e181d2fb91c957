package e2e

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// listenerRounds is how many rounds the median is of.
const listenerRounds = 10

// BenchmarkListeners prints what the metrics and the page cost, in time that the
// processors worked for the process of the proxy. Two processes have neither: how
// they differ is what the machine does to such a figure. Each size is measured in
// rounds in which all three have their turn, and each ratio is the median of the
// ratios of the rounds.
func BenchmarkListeners(b *testing.B) {
	upstream := httptest.NewServer(answersOverhead(b))
	defer upstream.Close()
	start := func(admin string) *processAt {
		return measuredProxy(b, []string{"serve", "--upstream", upstream.URL + "/v1", "--listen", "127.0.0.1:0", "--admin", admin}, command(b), "")
	}
	without, again, with := start("off"), start("off"), start("127.0.0.1:0")
	var table strings.Builder
	fmt.Fprintf(&table, "CPU per request, medians of %d rounds\n%-8s %12s %12s %12s   %s\n", listenerRounds*b.N,
		"body", "without", "again", "with", "again ÷ without (middle half of the rounds); with ÷ without (the same)")
	for _, size := range overheadSizes {
		body := agentBody(size.calls, size.bytes)
		kinds := []*measuredKind{
			{to: without, budget: 100_000_000, outcome: "untouched"},
			{to: again, budget: 100_000_000, outcome: "untouched"},
			{to: with, budget: 100_000_000, outcome: "untouched"},
		}
		for _, k := range kinds {
			for range 20 {
				k.send(b, body)
			}
			k.to.settle()
		}
		measureInTurn(b, kinds, listenerRounds*b.N, size.requests, body)
		fmt.Fprintf(&table, "%-8s", size.name)
		for _, k := range kinds {
			fmt.Fprintf(&table, " %9.0f µs", middle(k.took))
		}
		same, seen := ratios(kinds[1], kinds[0]), ratios(kinds[2], kinds[0])
		fmt.Fprintf(&table, "   %.3f (± %.3f); %.3f (± %.3f)\n", middle(same), spread(same), middle(seen), spread(seen))
	}
	b.ReportMetric(0, "ns/op")
	fmt.Print("\n" + table.String())
}
