package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"laconic/replay"
)

// column is one column of a table.
type column struct {
	title, meaning string
	left           bool // aligned left, as names are
	value          func(*replay.Row) string
	// best returns what is compared to name the best policy, the highest, and
	// false if nothing was measured; nil: no policy is better in this column.
	best func(*replay.Numbers) (score float64, measured bool)
	// drop orders the columns that a narrow terminal does without, the highest
	// first. A column with 0 is always shown.
	drop int
}

var columns = []column{
	{title: "budget", left: true, value: func(r *replay.Row) string { return r.Budget }, meaning: "tokens that a request may cost, their share of each conversation's largest request, or what its model takes"},
	{title: "policy", left: true, value: func(r *replay.Row) string { return r.Policy }},

	shareColumn(0, "recall", "names, numbers and quoted words that the next call used and that were still somewhere in what was sent (requests above the budget)",
		func(n *replay.Numbers) (int, int) { return n.Recalled, n.Facts }),
	unranked(shareColumn(3, "hard", "recall of the facts whose last message left or was changed; each policy has its own, so compare it with itself",
		func(n *replay.Numbers) (int, int) { return n.HardRecalled, n.Hard })),
	unranked(shareColumn(4, "hard verb", "the same, with the 24 characters around their last occurrence",
		func(n *replay.Numbers) (int, int) { return n.HardVerbatim, n.Hard })),
	shareColumn(2, "calls", "next calls of which all facts were still there",
		func(n *replay.Numbers) (int, int) { return n.CallsWhole, n.Calls }),
	shareColumn(1, "edits", "next edits of lines that the client's messages show, of which all old lines were still there",
		func(n *replay.Numbers) (int, int) { return n.EditsShown, n.Edits }),
	{
		title: "p5", drop: 5, meaning: "recall of the conversation that one of twenty is below",
		value: func(r *replay.Row) string {
			if r.Facts == 0 {
				return "–"
			}
			return percent(int(1000*r.LowRecall()+1e-9), 1000)
		},
		best: func(n *replay.Numbers) (float64, bool) { return n.LowRecall(), n.Facts > 0 },
	},
	shareColumn(0, "fits", "requests sent within the budget, of all above it",
		func(n *replay.Numbers) (int, int) { return n.Fits, n.Over }),
	{
		title: "over", drop: 6, meaning: "requests above the budget, as the client sent them",
		value: func(r *replay.Row) string { return replay.Thousands(r.Over) },
	},
	{
		title: "cost", meaning: "bill with a prompt cache, relative to sending everything",
		value: func(r *replay.Row) string { return fmt.Sprintf("%.3f", r.Cost()) },
		best:  func(n *replay.Numbers) (float64, bool) { return -n.Cost(), true },
	},
	{
		title: "time", drop: 7, meaning: "that the policy took for a request, on this machine",
		value: func(r *replay.Row) string {
			return fmt.Sprintf("%.1f ms", 1000*r.Took.Seconds()/float64(max(r.Requests, 1)))
		},
	},
	broken,
}

// broken is shown only if a promise was broken.
var broken = column{
	title: "broken", value: func(r *replay.Row) string { return fmt.Sprint(r.Numbers.Failures) },
	meaning: "broken promises, of those that the policy claims",
}

// bound is what all columns up to p5 have in common.
const bound = "a text that is there can be overlooked: what survives is an upper bound of what a model can use"

// shareColumn returns a column of shares, of which more is better.
func shareColumn(drop int, title, meaning string, of func(*replay.Numbers) (part, whole int)) column {
	return column{
		title: title, meaning: meaning, drop: drop,
		value: func(r *replay.Row) string { return percent(of(&r.Numbers)) },
		best: func(n *replay.Numbers) (float64, bool) {
			part, whole := of(n)
			return float64(part) / float64(max(whole, 1)), whole > 0
		},
	}
}

// unranked returns a column in which no policy is better.
func unranked(c column) column {
	c.best = nil
	return c
}

// columnsOf returns the columns for a result.
func columnsOf(r *replay.Result) []column {
	if r.Failed() {
		return slices.Clone(columns)
	}
	return slices.Clone(columns[:len(columns)-1])
}

// Table writes a result for people: a block per file with a line per budget and
// policy, the best policy of each column, and what the columns mean. If width is above
// 0, columns are left out until a line fits into so many characters.
func Table(w io.Writer, r *replay.Result, width int) error {
	blocks := blocks(r)
	var rows []replay.Row
	for i := range blocks {
		rows = append(rows, blocks[i].Rows...)
	}
	var b strings.Builder
	shown, widths := fitting(columnsOf(r), rows, width)
	for i := range blocks {
		f := &blocks[i]
		b.WriteString(heading(f, nameOf(r, f.File)) + "\n" + aligned(cells(shown, f.Rows), widths) + winners(r, f, width) + "\n")
	}
	for _, c := range shown {
		if c.meaning != "" {
			b.WriteString(explained(c.title, c.meaning, width))
		}
	}
	if own := modelBudgets(r); own != "" {
		b.WriteString(explained("model's", own, width))
	}
	b.WriteString(explained("note", bound, width))
	b.WriteString(explained("prices", fmt.Sprintf("cached %g, else %g", r.Prices.Cached, r.Prices.Write), 0))
	_, err := io.WriteString(w, b.String())
	return err
}

// widthsOf returns the widths of columns, in characters.
func widthsOf(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	return widths
}

// aligned returns rows as lines, the first two columns aligned left.
func aligned(rows [][]string, widths []int) string {
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			n := widths[i]
			if i < 2 {
				n = -n
			}
			if i > 0 {
				b.WriteString("  ")
			}
			fmt.Fprintf(&b, "%*s", n, cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cells returns the cells of rows, with a line of titles before them.
func cells(columns []column, rows []replay.Row) [][]string {
	lines := make([][]string, 1+len(rows))
	for _, c := range columns {
		lines[0] = append(lines[0], c.title)
		for i := range rows {
			lines[i+1] = append(lines[i+1], c.value(&rows[i]))
		}
	}
	return lines
}

// fitting returns those of the columns that fit into a line of so many
// characters, and their widths; 0 means no limit.
func fitting(columns []column, rows []replay.Row, width int) ([]column, []int) {
	for {
		widths := widthsOf(cells(columns, rows))
		total := 2 * (len(columns) - 1)
		for _, n := range widths {
			total += n
		}
		last := slices.MaxFunc(columns, func(a, b column) int { return a.drop - b.drop })
		if width == 0 || total <= width || last.drop == 0 {
			return columns, widths
		}
		columns = slices.DeleteFunc(columns, func(c column) bool { return c.title == last.title })
	}
}

// winners returns who won under each budget; "" if there is only one policy.
func winners(r *replay.Result, f *replay.FileResult, width int) string {
	text := ""
	for group := range slices.Chunk(f.Rows, max(1, len(r.Policies))) {
		if says := won(group, columnsOf(r)); says != "" {
			text += explained("won", says, min(cmp.Or(width, 120), 120))
		}
	}
	if text != "" {
		text = "\n" + text
	}
	return text
}

// won says in a sentence which policy is the best in most columns under a budget, and in
// which it is not, whether its requests fit or not; "" where nothing is to be compared.
func won(group []replay.Row, columns []column) string {
	var order []string // the policies that are best in some column
	in := map[string][]string{}
	for _, c := range columns {
		if best := bestOf(group, &c); len(best) < len(group) {
			for _, policy := range best {
				if in[policy] == nil {
					order = append(order, policy)
				}
				in[policy] = append(in[policy], c.title)
			}
		}
	}
	if len(order) == 0 {
		return ""
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(in[b]) - len(in[a]) })
	winner := order[0]
	says := fmt.Sprintf("Under %s, %s is best in %s", group[0].Budget, winner, strings.Join(in[winner], ", "))
	for _, policy := range order[1:] {
		if not := slices.DeleteFunc(in[policy], func(c string) bool { return slices.Contains(in[winner], c) }); len(not) > 0 {
			says += fmt.Sprintf("; %s in %s", policy, strings.Join(not, ", "))
		}
	}
	return says + "."
}

// bestOf returns the names of the best policies of a column, or none if nothing
// is to be compared.
func bestOf(group []replay.Row, c *column) (names []string) {
	if c.best == nil {
		return nil
	}
	most := math.Inf(-1)
	for i := range group {
		score, measured := c.best(&group[i].Numbers)
		switch {
		case !measured:
			return nil
		case score > most:
			most, names = score, []string{group[i].Policy}
		case score == most:
			names = append(names, group[i].Policy)
		}
	}
	return names
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
	return fmt.Sprintf("%s: %s, %s", name, replay.Count(n.Conversations, "conversation"), replay.Count(n.Requests, "request"))
}

// explained returns a title and its meaning in lines of at most width characters;
// 0 means no limit.
func explained(title, meaning string, width int) string {
	const indent = 10
	if width <= indent+20 {
		return fmt.Sprintf("%-*s%s\n", indent, title, meaning)
	}
	text := ""
	line := ""
	for _, word := range strings.Fields(meaning) {
		if line != "" && indent+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			text += fmt.Sprintf("%-*s%s\n", indent, title, line)
			title, line = "", ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return text + fmt.Sprintf("%-*s%s\n", indent, title, line)
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
