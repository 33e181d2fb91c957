package report

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"laconic/number"
	"laconic/replay"
)

// column is one column of numbers.
type column struct {
	title, meaning string
	value          func(*replay.Numbers) string
	// score returns what is compared to find the best policy, the highest, and false
	// if nothing was measured; nil: no policy is better in this column.
	score func(*replay.Numbers) (score float64, measured bool)
}

// columns are those that decide between policies. JSON has all numbers.
var columns = []column{
	shareColumn("recall", "names, numbers and quoted words that the next call used and that were still somewhere in what was sent (requests above the budget)",
		func(n *replay.Numbers) (int, int) { return n.Recalled, n.Facts }),
	shareColumn("edits", "next edits of lines that the client's messages show, of which all old lines were still there",
		func(n *replay.Numbers) (int, int) { return n.EditsShown, n.Edits }),
	shareColumn("fits", "requests sent within the budget, of all above it",
		func(n *replay.Numbers) (int, int) { return n.Fits, n.Over }),
	{
		title: "cost", meaning: "bill with a prompt cache, relative to sending everything",
		value: func(n *replay.Numbers) string { return fmt.Sprintf("%.3f", n.Cost()) },
		score: func(n *replay.Numbers) (float64, bool) { return -n.Cost(), true },
	},
	{
		title: "broken", meaning: "broken promises, of those that the policy claims",
		value: func(n *replay.Numbers) string { return fmt.Sprint(n.Failures) },
	},
}

// shareColumn returns a column of shares, of which more is better.
func shareColumn(title, meaning string, of func(*replay.Numbers) (part, whole int)) column {
	return column{
		title: title, meaning: meaning,
		value: func(n *replay.Numbers) string { return percent(of(n)) },
		score: func(n *replay.Numbers) (float64, bool) {
			part, whole := of(n)
			return float64(part) / float64(max(whole, 1)), whole > 0
		},
	}
}

// best returns the best rows of a column; none if nothing was measured, or all are alike.
func (c *column) best(group []replay.Row) (best []int) {
	if c.score == nil {
		return nil
	}
	most := math.Inf(-1)
	for i := range group {
		score, measured := c.score(&group[i].Numbers)
		switch {
		case !measured:
			return nil
		case score > most:
			most, best = score, []int{i}
		case score == most:
			best = append(best, i)
		}
	}
	if len(best) == len(group) {
		return nil
	}
	return best
}

// idle reports whether no policy had anything to do under a budget.
func idle(group []replay.Row) bool {
	return !slices.ContainsFunc(group, func(row replay.Row) bool { return row.Over+row.Epochs+row.Failures > 0 })
}

// won returns a sentence: the policy that is best in most columns under a budget, whether
// its requests fit or not, and the best of the other columns. It is "" for one policy.
func won(group []replay.Row, columns []column) string {
	under := "Under " + group[0].Budget + " "
	switch {
	case idle(group):
		return under + "no request is above its budget."
	case len(group) == 1:
		return ""
	}
	in := make([][]string, len(group)) // the columns in which each is the best
	for _, c := range columns {
		for _, i := range c.best(group) {
			in[i] = append(in[i], c.title)
		}
	}
	var order []int
	for i := range group {
		if in[i] != nil {
			order = append(order, i)
		}
	}
	if order == nil {
		return under + "no policy is better than another."
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(in[b]) - len(in[a]) })
	winner := order[0]
	says := under + group[winner].Policy + " is best in " + strings.Join(in[winner], ", ")
	for _, i := range order[1:] {
		if others := slices.DeleteFunc(in[i], func(c string) bool { return slices.Contains(in[winner], c) }); len(others) > 0 {
			says += "; " + group[i].Policy + " in " + strings.Join(others, ", ")
		}
	}
	return says + "."
}

// Table writes a result for people: a block per file with a line per budget and policy,
// the best of each budget with a star, and what the columns mean.
func Table(w io.Writer, r *replay.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	shown := columns
	if len(r.Failures) == 0 {
		shown = columns[:len(columns)-1]
	}
	line := func(budget, policy string, cell func(c *column) string) {
		numbers := ""
		for i := range shown {
			numbers += cell(&shown[i])
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", budget, policy, strings.TrimRight(numbers, " "))
	}
	blocks := r.Files
	if len(r.Files) != 1 {
		blocks = append(slices.Clip(r.Files), r.Total)
	}
	for _, f := range blocks {
		n := &f.Rows[0].Numbers
		fmt.Fprintf(t, "%s: %s, %s\n", nameOf(r, f.File), number.Count(n.Conversations, "conversation"), number.Count(n.Requests, "request"))
		if !idle(f.Rows) {
			line("budget", "policy", func(c *column) string { return fmt.Sprintf("%8s ", c.title) })
		}
		var said []string
		for group := range slices.Chunk(f.Rows, len(r.Policies)) {
			if says := won(group, shown); says != "" {
				said = append(said, says)
			}
			if idle(group) {
				continue // a row of dashes
			}
			for i := range group {
				line(group[i].Budget, group[i].Policy, func(c *column) string {
					star := " "
					if slices.Contains(c.best(group), i) {
						star = "*"
					}
					return fmt.Sprintf("%8s%s", c.value(&group[i].Numbers), star)
				})
			}
		}
		for _, says := range said {
			fmt.Fprintln(t, says)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, "budget\ttokens that a request may cost, their share of each conversation's largest request, or what its model takes")
	for _, c := range shown {
		fmt.Fprintf(t, "%s\t%s\n", c.title, c.meaning)
	}
	fmt.Fprintln(t, "*\tthe best under its budget, whether its requests fit or not")
	fmt.Fprintln(t, "note\ta text that is there can be overlooked: what survives is an upper bound of what a model can use")
	fmt.Fprintf(t, "prices\tcached %g, else %g\n", r.Prices.Cached, r.Prices.Write)
	return t.Flush()
}

// nameOf returns the name of a file in tables: its base name, or all of it where another
// file has the same.
func nameOf(r *replay.Result, file string) string {
	name := filepath.Base(file)
	for _, f := range append(slices.Clip(r.Files), r.Total) {
		if f.File != file && filepath.Base(f.File) == name {
			return file
		}
	}
	return name
}

// percent returns a percentage. Less than all is never rounded up to 100.
func percent(part, whole int) string {
	switch {
	case whole == 0:
		return "–"
	case part == whole:
		return "100 %"
	case part == 0:
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", float64(part*1000/whole)/10)
}
