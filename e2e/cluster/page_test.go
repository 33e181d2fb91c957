//go:build unix

package cluster

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables into docs/replicas.md")

// page shows the tables.
const page = "../../docs/replicas.md"

// written is what tests have noted, by the mark of their table.
var written = map[string]string{}

// note adds a row to a table of the page, and shows it. -update writes the table.
func note(t *testing.T, mark, row string) {
	t.Helper()
	t.Logf("%s", strings.TrimSpace(row))
	written[mark] += row
	if !*update {
		return
	}
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin := "<!-- " + mark + " -->\n"
	head, rest, found := strings.Cut(string(old), begin)
	_, tail, ended := strings.Cut(rest, "<!-- end -->")
	if !found || !ended {
		t.Fatalf("%s has no place for %s", page, mark)
	}
	lines := strings.SplitAfterN(rest, "\n", 3) // the heads stay
	if len(lines) < 3 || !strings.HasPrefix(lines[1], "|-") {
		t.Fatalf("%s: the table %s has no heads", page, mark)
	}
	if err := os.WriteFile(page, []byte(head+begin+lines[0]+lines[1]+written[mark]+"<!-- end -->"+tail), 0o600); err != nil {
		t.Fatal(err)
	}
}

func found(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }
