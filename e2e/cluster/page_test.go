//go:build unix

package cluster

import (
	"flag"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

var update = flag.Bool("update", false, "write the tables into docs/replicas.md")

// written is what tests have noted, by the mark of their table.
var written = map[string]string{}

// note adds a row to a table of the page, and shows it. -update writes the table.
func note(t *testing.T, mark, row string) {
	t.Helper()
	t.Logf("%s", strings.TrimSpace(row))
	written[mark] += row
	if *update {
		rig.Publish(t, "../../docs/replicas.md", mark, func(old string) string {
			heads := strings.SplitAfterN(old, "\n", 3) // they stay
			if len(heads) < 3 || !strings.HasPrefix(heads[1], "|-") {
				t.Fatalf("the table %s has no heads", mark)
			}
			return heads[0] + heads[1] + written[mark]
		})
	}
}
