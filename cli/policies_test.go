package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"laconic/compact/policy"
)

// TestPoliciesAreDocumented: ../docs/policies.md has the table that the code's own
// table of options makes. go test -update writes it.
func TestPoliciesAreDocumented(t *testing.T) {
	const file, begin, end = "../docs/policies.md", "<!-- options -->\n", "<!-- end of options -->\n"
	doc := must(os.ReadFile(file))
	before, rest, ok := strings.Cut(string(doc), begin)
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %q", file, begin)
	}
	var b strings.Builder
	b.WriteString("| policy | option | default | may be | unit | what it says |\n|---|---|---|---|---|---|\n")
	for _, p := range policy.Catalogue {
		for _, o := range p.Options {
			value := o.Range
			if value == "" {
				value = "true or false"
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %v | %s | %s | %s |\n", p.Name, o.Name, o.Default, value, o.Unit, o.Summary)
		}
	}
	if b.String() == was {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what there is; go test ./cli -update does", file)
	}
	writeFile(t, file, before+begin+b.String()+end+after)
}
