package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"laconic/compact/policy"
	"laconic/compact/stage"
)

func TestPoliciesAreListedAsJSON(t *testing.T) {
	var out, said bytes.Buffer
	if code := Run(context.Background(), []string{"policies", "--json"}, strings.NewReader(""), &out, &said); code != 0 {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	var all []struct {
		Name      string
		KnownFrom string `json:"known_from"`
		Promises  []string
		Options   []stage.Option
	}
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(all[5].Promises, ", "); got != "untouched, paired, never worse" || len(all[0].Promises) != 8 {
		t.Errorf("the promises of layered: %s, of adaptive: %v", got, all[0].Promises)
	}
	var layered []string
	for _, o := range all[5].Options {
		layered = append(layered, fmt.Sprintf("%s %v (%s) %s", o.Name, o.Default, o.Range, o.Unit))
	}
	if got := strings.Join(layered, "; "); got != "threshold 0.8 (between 0.5 and 0.95) of the budget; keep 10 (at least 2) messages; "+
		"max_chars 5000 (at least 1) characters; summarize false () " || len(all[0].Options) != 0 {
		t.Errorf("the options of layered: %s, of adaptive: %v", got, all[0].Options)
	}
	if len(all) != 6 || all[0].Name != "adaptive" || all[0].KnownFrom != "" || all[1].KnownFrom != "helexa/cortex" {
		t.Errorf("%+v", all)
	}
}

// TestPoliciesAreDocumented: ../docs/policies.md has the table that the code's own
// table of options makes. go test -update writes it.
func TestPoliciesAreDocumented(t *testing.T) {
	const file, begin, end = "../docs/policies.md", "<!-- options -->\n", "<!-- end of options -->\n"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(file, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
