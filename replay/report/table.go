package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"laconic/replay"
)

// column is one column of the table.
type column struct {
	title, meaning string
	left           bool // aligned left, as names are
	value          func(*replay.Row) string
	// drop orders the columns that a narrow terminal does without, the highest
	// first. A column with 0 is always shown.
	drop int
}

var columns = []column{
	{title: "budget", left: true, value: func(r *replay.Row) string { return r.Budget }, meaning: "tokens that a request may cost, their share of each conversation's largest request, or what its model takes"},
	{title: "policy", left: true, value: func(r *replay.Row) string { return r.Policy }},
	{title: "recall", value: func(r *replay.Row) string { return percent(r.Recalled, r.Facts) }, meaning: "values that the next call used and that were still somewhere in what was sent (requests above the budget)"},
	{title: "verbatim", value: func(r *replay.Row) string { return percent(r.Verbatim, r.Facts) }, meaning: "the same, with the 24 characters around their last occurrence"},
	{title: "fits", value: func(r *replay.Row) string { return percent(r.FairFits, r.Fair) }, meaning: "requests sent within the budget, of those above it that leave room to work in (what must stay takes less than four fifths)"},
	{title: "fits all", drop: 4, value: func(r *replay.Row) string { return percent(r.Fits, r.Over) }, meaning: "the same, of all requests above the budget"},
	{title: "pairs", value: func(r *replay.Row) string { return percent(r.Paired, r.Requests) }, meaning: "requests whose tool calls and results a strict upstream takes"},
	{title: "recall*", value: func(r *replay.Row) string { return percent(r.RecalledFit, r.Facts) }, meaning: "recall, if a request above its budget keeps nothing, because its upstream refuses it"},
	{title: "verbatim*", drop: 8, value: func(r *replay.Row) string { return percent(r.VerbatimFit, r.Facts) }, meaning: "verbatim, seen so"},
	{title: "cost", value: func(r *replay.Row) string { return fmt.Sprintf("%.3f", r.Cost()) }, meaning: "bill with a prompt cache, relative to sending everything"},
	{title: "mean", drop: 9, value: func(r *replay.Row) string { return fmt.Sprintf("%.3f", r.MeanCost()) }, meaning: "mean of the costs of the conversations, whatever their length"},
	{title: "epochs", drop: 3, value: func(r *replay.Row) string { return fmt.Sprint(r.Epochs) }, meaning: "times that the policy cut"},
	{title: "breaks", drop: 2, value: func(r *replay.Row) string { return fmt.Sprint(r.PrefixBreaks) }, meaning: "requests that did not go on from the one before, so that the cache missed"},
	{title: "sent", drop: 5, value: func(r *replay.Row) string { return replay.Thousands(r.Sent) }, meaning: "tokens sent"},
	{title: "cached", drop: 6, value: func(r *replay.Row) string { return percent(r.Cached, r.Sent) }, meaning: "of the tokens sent, served from the cache"},
	{title: "p50", drop: 7, value: func(r *replay.Row) string { return duration(r.Took(0.5)) }, meaning: "time to compact a request, median and 99th percentile"},
	{title: "p99", drop: 1, value: func(r *replay.Row) string { return duration(r.Took(0.99)) }},
	broken,
}

// broken is shown only if a promise was broken.
var broken = column{
	title: "broken", value: func(r *replay.Row) string { return fmt.Sprint(r.Numbers.Failures) },
	meaning: "broken promises, of those that the policy claims",
}

// columnsOf returns the columns for a result.
func columnsOf(r *replay.Result) []column {
	if r.Failed() {
		return slices.Clone(columns)
	}
	return slices.Clone(columns[:len(columns)-1])
}

// Table writes a result for people: a block per file, a line per budget and
// policy, and what the columns mean. If width is above 0, columns are left out
// until a line fits into so many characters.
func Table(w io.Writer, r *replay.Result, width int) error {
	blocks, names := blocks(r), names(r)
	shown := columnsOf(r)
	widths := map[string]int{}
	total := -2
	for _, c := range shown {
		n := utf8.RuneCountInString(c.title)
		for i := range blocks {
			for k := range blocks[i].Rows {
				n = max(n, utf8.RuneCountInString(c.value(&blocks[i].Rows[k])))
			}
		}
		widths[c.title] = n
		total += n + 2
	}
	for width > 0 && total > width {
		last := slices.MaxFunc(shown, func(a, b column) int { return a.drop - b.drop })
		if last.drop == 0 {
			break
		}
		shown = slices.DeleteFunc(shown, func(c column) bool { return c.title == last.title })
		total -= widths[last.title] + 2
	}

	var b strings.Builder
	line := func(cell func(*column) string) {
		var cells []string
		for i := range shown {
			c := &shown[i]
			n := widths[c.title]
			if c.left {
				n = -n
			}
			cells = append(cells, fmt.Sprintf("%*s", n, cell(c)))
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, "  "), " ") + "\n")
	}
	for _, f := range blocks {
		b.WriteString(heading(&f, names[f.File]) + "\n")
		line(func(c *column) string { return c.title })
		for n := range f.Rows {
			line(func(c *column) string { return c.value(&f.Rows[n]) })
		}
		b.WriteByte('\n')
	}
	if rows := spreadRows(r, width); rows != nil {
		b.WriteString(spreadHeading(r) + "\n" + aligned(rows, widthsOf(rows)) + "\n")
	}
	for _, c := range shown {
		if c.meaning != "" {
			b.WriteString(explained(c.title, c.meaning, width))
		}
	}
	if own := modelBudgets(r); own != "" {
		b.WriteString(explained("model's", own, width))
	}
	b.WriteString(explained("prices", fmt.Sprintf("cached %g, else %g", r.Prices.Cached, r.Prices.Write), 0))
	_, err := io.WriteString(w, b.String())
	return err
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

// duration returns a duration with about two significant digits.
func duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}
