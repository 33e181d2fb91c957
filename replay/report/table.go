package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"laconic/number"
	"laconic/replay"
)

// column is one column of a table.
type column struct {
	title, meaning string
	value          func(*replay.Row) string
	// score returns what is compared to find the best policy, the highest, and false
	// if nothing was measured; nil: no policy is better in this column.
	score func(*replay.Numbers) (score float64, measured bool)
}

// columns are those that decide between policies. JSON has all numbers.
var columns = []column{
	{title: "budget", value: func(r *replay.Row) string { return r.Budget }, meaning: "tokens that a request may cost, their share of each conversation's largest request, or what its model takes"},
	{title: "policy", value: func(r *replay.Row) string { return r.Policy }},
	shareColumn("recall", "names, numbers and quoted words that the next call used and that were still somewhere in what was sent (requests above the budget)",
		func(n *replay.Numbers) (int, int) { return n.Recalled, n.Facts }),
	shareColumn("edits", "next edits of lines that the client's messages show, of which all old lines were still there",
		func(n *replay.Numbers) (int, int) { return n.EditsShown, n.Edits }),
	shareColumn("fits", "requests sent within the budget, of all above it",
		func(n *replay.Numbers) (int, int) { return n.Fits, n.Over }),
	{
		title: "cost", meaning: "bill with a prompt cache, relative to sending everything",
		value: func(r *replay.Row) string { return fmt.Sprintf("%.3f", r.Cost()) },
		score: func(n *replay.Numbers) (float64, bool) { return -n.Cost(), true },
	},
	{
		title: "broken", meaning: "broken promises, of those that the policy claims",
		value: func(r *replay.Row) string { return fmt.Sprint(r.Numbers.Failures) },
	},
}

// named is the number of columns that name a row.
const named = 2

// bound is what recall and edits have in common.
const bound = "a text that is there can be overlooked: what survives is an upper bound of what a model can use"

// shareColumn returns a column of shares, of which more is better.
func shareColumn(title, meaning string, of func(*replay.Numbers) (part, whole int)) column {
	return column{
		title: title, meaning: meaning,
		value: func(r *replay.Row) string { return percent(of(&r.Numbers)) },
		score: func(n *replay.Numbers) (float64, bool) {
			part, whole := of(n)
			return float64(part) / float64(max(whole, 1)), whole > 0
		},
	}
}

// columnsOf returns the columns for a result: that of broken promises only if one was
// broken.
func columnsOf(r *replay.Result) []column {
	if r.Failed() {
		return columns
	}
	return columns[:len(columns)-1]
}

// row is a line of a table.
type row struct {
	First bool // of its budget
	Cells []cell
}

// cell is a cell of a table. Best is set where its policy is the best under its budget,
// and not all are alike.
type cell struct {
	Text       string
	Left, Best bool
}

// rowsOf returns the lines of one file.
func rowsOf(r *replay.Result, f *replay.FileResult) (rows []row) {
	for group := range slices.Chunk(f.Rows, max(1, len(r.Policies))) {
		for i := range group {
			line := row{First: i == 0}
			for n, c := range columnsOf(r) {
				best := bestOf(group, &c)
				line.Cells = append(line.Cells, cell{c.value(&group[i]), n < named, len(best) < len(group) && slices.Contains(best, i)})
			}
			rows = append(rows, line)
		}
	}
	return rows
}

// bestOf returns the best rows of a column, or none if nothing is to be compared.
func bestOf(group []replay.Row, c *column) (best []int) {
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
	return best
}

// Table writes a result for people: a block per file with a line per budget and policy,
// the best of each budget with a star, and what the columns mean.
func Table(w io.Writer, r *replay.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cells []string, numbers string) {
		fmt.Fprintln(t, strings.Join(append(cells, strings.TrimRight(numbers, " ")), "\t"))
	}
	var titles []string
	numbers := ""
	for n, c := range columnsOf(r) {
		if n < named {
			titles = append(titles, c.title)
		} else {
			numbers += fmt.Sprintf("%8s ", c.title)
		}
	}
	for _, f := range blocks(r) {
		fmt.Fprintln(t, heading(&f, nameOf(r, f.File)))
		line(titles, numbers)
		for _, one := range rowsOf(r, &f) {
			var names []string
			numbers := ""
			for _, c := range one.Cells {
				switch {
				case c.Left:
					names = append(names, c.Text)
				case c.Best:
					numbers += fmt.Sprintf("%8s*", c.Text)
				default:
					numbers += fmt.Sprintf("%8s ", c.Text)
				}
			}
			line(names, numbers)
		}
		fmt.Fprintln(t)
	}
	for _, c := range columnsOf(r) {
		if c.meaning != "" {
			fmt.Fprintf(t, "%s\t%s\n", c.title, c.meaning)
		}
	}
	fmt.Fprintf(t, "*\tthe best under its budget, whether its requests fit or not\n")
	if own := modelBudgets(r); own != "" {
		fmt.Fprintf(t, "model's\t%s\n", own)
	}
	fmt.Fprintf(t, "note\t%s\nprices\tcached %g, else %g\n", bound, r.Prices.Cached, r.Prices.Write)
	return t.Flush()
}

// blocks returns the files, and the total if there are several.
func blocks(r *replay.Result) []replay.FileResult {
	if len(r.Files) == 1 {
		return r.Files
	}
	return append(slices.Clip(r.Files), r.Total)
}

// heading returns the name of a block and the number of its conversations.
func heading(f *replay.FileResult, name string) string {
	if len(f.Rows) == 0 {
		return name
	}
	n := &f.Rows[0].Numbers
	return fmt.Sprintf("%s: %s, %s", name, number.Count(n.Conversations, "conversation"), number.Count(n.Requests, "request"))
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
