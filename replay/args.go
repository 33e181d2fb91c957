package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"laconic/compact"
)

// Args are what the command line says.
type Args struct {
	Files []string
	// Known are all policies there are; Names chooses among them, in its
	// order. No name: all.
	Known []Policy
	Names []string
	// Budgets in tokens, and as shares of each conversation's peak. None: the
	// shares 0.5 and 0.25.
	Budgets []int
	Shares  []float64
	// MinPeak, Prices, Workers, Counter, CounterFor: see Options.
	MinPeak    int
	Prices     *Prices
	Workers    int
	Counter    compact.Counter
	CounterFor func(model string) compact.Counter
	// JSON writes JSON to stdout instead of the table. HTML, if not empty, is
	// the file for the report.
	JSON bool
	HTML string
}

// options checks the arguments. Its error is a sentence.
func (a *Args) options() (Options, error) {
	o := Options{
		Files: a.Files, MinPeak: a.MinPeak, Prices: a.Prices, Workers: a.Workers,
		Counter: a.Counter, CounterFor: a.CounterFor, Series: a.HTML != "",
	}
	if len(a.Files) == 0 {
		return o, errors.New("name the files to replay")
	}
	for _, n := range a.Budgets {
		if n <= 0 {
			return o, fmt.Errorf("a budget is a number of tokens above 0, not %d", n)
		}
		o.Budgets = append(o.Budgets, Budget{Tokens: n})
	}
	for _, s := range a.Shares {
		if !(s > 0 && s <= 1) {
			return o, fmt.Errorf("a budget share is above 0 and at most 1, not %g", s)
		}
		o.Budgets = append(o.Budgets, Budget{Share: s})
	}
	if len(o.Budgets) == 0 {
		o.Budgets = []Budget{{Share: 0.5}, {Share: 0.25}}
	}
	if len(a.Names) == 0 {
		o.Policies = a.Known
		return o, nil
	}
	for _, name := range a.Names {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(a.Known, func(p Policy) bool { return p.Name == name })
		if i < 0 {
			return o, unknownPolicy(name, a.Known)
		}
		if !slices.ContainsFunc(o.Policies, func(p Policy) bool { return p.Name == name }) {
			o.Policies = append(o.Policies, a.Known[i])
		}
	}
	return o, nil
}

// unknownPolicy names the policies there are, and the one that was meant.
func unknownPolicy(name string, known []Policy) error {
	var names []string
	for _, p := range known {
		names = append(names, p.Name)
	}
	hint := ""
	if near := slices.MinFunc(append(names, ""), func(a, b string) int { return cmp.Compare(apart(name, a), apart(name, b)) }); near != "" && apart(name, near) <= max(2, len(name)/3) {
		hint = fmt.Sprintf(" Did you mean %s?", near)
	}
	return fmt.Errorf("there is no policy %q; there are %s.%s", name, strings.Join(names, ", "), hint)
}

// apart is how many letters must be added, removed or changed to make b of a.
func apart(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
