package metrics

import (
	"encoding/json"
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

var update = flag.Bool("update", false, "rewrite the table of the manual")

const manual = "../../docs/metrics.md"

// TestTheManualIsTheTable compares docs/metrics.md with what there is. -update
// writes it.
func TestTheManualIsTheTable(t *testing.T) {
	const begins, ends = "<!-- metrics: go test ./proxy/metrics -update -->\n", "<!-- end of metrics -->"
	text := rig.ReadFile(t, manual)
	head, rest, ok := strings.Cut(string(text), begins)
	_, tail, ended := strings.Cut(rest, ends)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", manual)
	}
	var table strings.Builder
	table.WriteString("| Metric | Kind | Labels | Unit | Meaning |\n|---|---|---|---|---|\n")
	for _, r := range made(0).Rows {
		labels := ""
		if len(r.Labels) > 0 {
			labels = "`" + strings.Join(r.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n", r.Name, r.Kind, labels, r.Unit, r.Help)
	}
	want := head + begins + table.String() + ends + tail
	switch {
	case want == string(text):
	case *update:
		rig.WriteFile(t, manual, want)
	default:
		t.Errorf("%s is old; run go test ./proxy/metrics -update", manual)
	}
}

// TestNamesFollowTheConventions: one prefix, base units, and counters end in
// _total.
func TestNamesFollowTheConventions(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range made(0).Rows {
		switch {
		case seen[r.Name], !regexp.MustCompile(`^laconic(_[a-z]+)+$`).MatchString(r.Name),
			(r.Kind == "counter") != strings.HasSuffix(r.Name, "_total"),
			(r.Unit == inBytes) != strings.Contains(r.Name, "_bytes"),
			(r.Unit == inSeconds || r.Unit == inTime) != strings.HasSuffix(r.Name, "_seconds"),
			(r.Unit == isInfo) != strings.HasSuffix(r.Name, "_info"),
			!strings.HasSuffix(r.Help, "."):
			t.Errorf("%+v", r)
		}
		seen[r.Name] = true
	}
	for _, name := range registered(t) {
		if strings.HasPrefix(name, "laconic_") && !seen[name] {
			t.Errorf("%s is in the registry, and not in the table", name)
		}
	}
}

// registered returns the names in the registry of a process, those of the runtime
// included.
func registered(t *testing.T) (names []string) {
	m, _ := watched(t, options(nil))
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		names = append(names, f.GetName())
	}
	return names
}

// query is an expression of a board or a rule, and what names it there.
type query struct{ title, expr string }

// queries returns all expressions of deploy.
func queries(t *testing.T) (all []query) {
	board := rig.ReadFile(t, "../../deploy/grafana.json")
	var b struct {
		Panels []struct {
			Title, Description, Type string
			Targets                  []struct{ Expr string }
			FieldConfig              struct{ Defaults struct{ Unit string } }
		}
		Annotations, Templating struct {
			List []struct {
				Name, Expr, Definition string
			}
		}
	}
	if err := json.Unmarshal(board, &b); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range b.Panels {
		if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0 || p.FieldConfig.Defaults.Unit == "") {
			t.Errorf("the panel %q has no description, no unit, or nothing in it", p.Title)
		}
		if name := p.Type + p.Title; p.Title == "" || seen[name] {
			t.Errorf("the title %q is empty, or that of another panel", p.Title)
		} else {
			seen[name] = true
		}
		for _, q := range p.Targets {
			all = append(all, query{p.Title, q.Expr})
		}
	}
	for _, v := range append(b.Annotations.List, b.Templating.List...) {
		all = append(all, query{v.Name, v.Expr + v.Definition})
	}
	rules := rig.ReadFile(t, "../../deploy/alerts.yaml")
	each := strings.Split(string(rules), "- alert: ")[1:]
	for _, rule := range each {
		name, rule, _ := strings.Cut(rule, "\n")
		expr, rest, ok := strings.Cut(rule, "labels:")
		if !ok || !strings.Contains(rest, "summary: ") || !strings.Contains(rest, "runbook: ") {
			t.Errorf("%s has no label, no summary or no runbook", name)
		}
		all = append(all, query{name, expr})
		all = append(all, query{name, strings.Join(regexp.MustCompile(`laconic_[a-z_]*[a-z]`).FindAllString(rest, -1), " ")})
	}
	return all
}

var (
	metricName  = regexp.MustCompile(`\b(laconic|go|process)_[a-z_]*[a-z]\b`)
	metricUse   = regexp.MustCompile(`\b(laconic_[a-z_]*[a-z])\{([^}]*)\}`)
	labelOfUse  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)\s*"`)
	ofHistogram = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// TestBoardAndRulesNameWhatThereIs: each metric that they name is in the registry,
// with the labels that they ask for, and no metric of the table is shown nowhere.
func TestBoardAndRulesNameWhatThereIs(t *testing.T) {
	rows := map[string]Row{}
	for _, r := range made(0).Rows {
		rows[r.Name] = r
	}
	others := registered(t)
	shown := map[string]bool{}
	for _, q := range queries(t) {
		for _, name := range metricName.FindAllString(q.expr, -1) {
			_, known := rows[name]
			if base := ofHistogram.ReplaceAllString(name, ""); !known && rows[base].Kind == "histogram" {
				name, known = base, true
			}
			elsewhere := strings.HasPrefix(name, "process_") && runtime.GOOS != "linux"
			if shown[name] = true; !known && !slices.Contains(others, name) && !elsewhere {
				t.Errorf("%s: there is no %s", q.title, name)
			}
		}
		for _, use := range metricUse.FindAllStringSubmatch(q.expr, -1) {
			row := rows[ofHistogram.ReplaceAllString(use[1], "")]
			if r, ok := rows[use[1]]; ok {
				row = r
			}
			for _, l := range labelOfUse.FindAllStringSubmatch(use[2], -1) {
				if !slices.Contains(row.Labels, l[1]) && l[1] != "job" && l[1] != "instance" {
					t.Errorf("%s: %s has no label %s", q.title, use[1], l[1])
				}
			}
		}
	}
	elsewhere := []string{
		"laconic_upstream_changes_total", "laconic_upstream_last_failure_timestamp_seconds",
	}
	for name := range rows {
		if !shown[name] && !slices.Contains(elsewhere, name) {
			t.Errorf("%s is on no panel and in no rule", name)
		}
	}
}
