package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// column is one column of the table: what stands above it, what it means, and
// its value. Numbers stand right, names left.
type column struct {
	title, meaning string
	left           bool
	value          func(*Row) string
	// drop says which columns go first where the terminal is narrow: the
	// highest. 0 always stays.
	drop int
	// only, where given, tells whether the column says anything.
	only func(*Result) bool
}

// columns are all columns of the table, in order.
var columns = []column{
	{title: "budget", left: true, value: func(r *Row) string { return r.Budget }, meaning: "tokens that a request may cost, or their share of each conversation's largest request"},
	{title: "policy", left: true, value: func(r *Row) string { return r.Policy }},
	{title: "recall", value: func(r *Row) string { return percent(r.Recalled, r.Facts) }, meaning: "values that the next call used and that were still somewhere in what was sent (requests above the budget)"},
	{title: "verbatim", value: func(r *Row) string { return percent(r.Verbatim, r.Facts) }, meaning: "the same, with the 24 characters around their last occurrence"},
	{title: "fits", value: func(r *Row) string { return percent(r.FairFits, r.Fair) }, meaning: "requests sent within the budget, of those above it that leave room to work in (what must stay takes less than four fifths)"},
	{title: "fits all", drop: 4, value: func(r *Row) string { return percent(r.Fits, r.Over) }, meaning: "the same, of all requests above the budget"},
	{title: "pairs", value: func(r *Row) string { return percent(r.Paired, r.Requests) }, meaning: "requests whose tool calls and results a strict upstream takes"},
	{title: "recall*", value: func(r *Row) string { return percent(r.RecalledFit, r.Facts) }, meaning: "recall, where a request above its budget tells nothing: its upstream refuses it"},
	{title: "verbatim*", drop: 8, value: func(r *Row) string { return percent(r.VerbatimFit, r.Facts) }, meaning: "verbatim, seen so"},
	{title: "cost", value: func(r *Row) string { return fmt.Sprintf("%.3f", r.Cost()) }, meaning: "bill with a prompt cache, relative to sending everything"},
	{title: "epochs", drop: 3, value: func(r *Row) string { return fmt.Sprint(r.Epochs) }, meaning: "times that the policy cut"},
	{title: "breaks", drop: 2, value: func(r *Row) string { return fmt.Sprint(r.PrefixBreaks) }, meaning: "requests that did not go on from the one before, so that the cache missed"},
	{title: "sent", drop: 5, value: func(r *Row) string { return thousands(r.Sent) }, meaning: "tokens sent"},
	{title: "cached", drop: 6, value: func(r *Row) string { return percent(r.Cached, r.Sent) }, meaning: "of the tokens sent, served from the cache"},
	{title: "p50", drop: 7, value: func(r *Row) string { return duration(r.Took(0.5)) }, meaning: "time to compact a request, median and 99th percentile"},
	{title: "p99", drop: 1, value: func(r *Row) string { return duration(r.Took(0.99)) }},
	{
		title: "broken", value: func(r *Row) string { return fmt.Sprint(r.Numbers.Failures) }, meaning: "broken promises, of those that the policy claims",
		only: func(r *Result) bool { return r.Failed() },
	},
}

// WriteTable writes the result for people to read: a block per file, a line
// per budget and policy, and what the columns mean. Where width is above 0,
// columns are left out until a line fits into so many characters.
func (r *Result) WriteTable(w io.Writer, width int) error {
	blocks := r.blocks()
	shown := r.shown(blocks, width)
	widths := columnWidths(shown, blocks)
	names := r.names()
	var b strings.Builder
	for i, f := range blocks {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", f.heading(names[f.File]))
		var titles []string
		for _, c := range shown {
			titles = append(titles, c.title)
		}
		writeLine(&b, shown, widths, titles)
		for n := range f.Rows {
			var cells []string
			for _, c := range shown {
				cells = append(cells, c.value(&f.Rows[n]))
			}
			writeLine(&b, shown, widths, cells)
		}
	}
	b.WriteByte('\n')
	for _, c := range shown {
		if c.meaning != "" {
			b.WriteString(wrap(fmt.Sprintf("%-9s %s", c.title, c.meaning), width, 10))
		}
	}
	fmt.Fprintf(&b, "%-9s cached %g, else %g\n", "prices", r.Prices.Cached, r.Prices.Write)
	_, err := io.WriteString(w, b.String())
	return err
}

// blocks are the files, and the total where there are several.
func (r *Result) blocks() []FileResult {
	if len(r.Files) == 1 {
		return r.Files
	}
	return append(slices.Clip(r.Files), r.Total)
}

// heading names a block and says how much is in it.
func (f *FileResult) heading(name string) string {
	if len(f.Rows) == 0 {
		return name
	}
	n := &f.Rows[0].Numbers
	return fmt.Sprintf("%s: %s, %s", name, count(n.Conversations, "conversation"), count(n.Requests, "request"))
}

// shown are the columns that say something and fit.
func (r *Result) shown(blocks []FileResult, width int) []column {
	var shown []column
	for _, c := range columns {
		if c.only == nil || c.only(r) {
			shown = append(shown, c)
		}
	}
	for width > 0 {
		total := 0
		for _, n := range columnWidths(shown, blocks) {
			total += n + 2
		}
		last := 0
		for i, c := range shown {
			if c.drop > shown[last].drop {
				last = i
			}
		}
		if total-2 <= width || shown[last].drop == 0 {
			break
		}
		shown = slices.Delete(shown, last, last+1)
	}
	return shown
}

func columnWidths(shown []column, blocks []FileResult) []int {
	widths := make([]int, len(shown))
	for i, c := range shown {
		widths[i] = utf8.RuneCountInString(c.title)
		for _, f := range blocks {
			for n := range f.Rows {
				widths[i] = max(widths[i], utf8.RuneCountInString(c.value(&f.Rows[n])))
			}
		}
	}
	return widths
}

func writeLine(b *strings.Builder, shown []column, widths []int, cells []string) {
	var line strings.Builder
	for i, c := range shown {
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cells[i]))
		if i > 0 {
			line.WriteString("  ")
		}
		if c.left {
			line.WriteString(cells[i] + gap)
		} else {
			line.WriteString(gap + cells[i])
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// wrap breaks a text between words so that no line is longer than width, and
// indents all but the first.
func wrap(text string, width, indent int) string {
	if width <= indent+20 {
		return text + "\n"
	}
	var b strings.Builder
	for utf8.RuneCountInString(text) > width {
		cut := strings.LastIndexByte(string([]rune(text)[:width+1]), ' ')
		if cut <= indent {
			break
		}
		b.WriteString(strings.TrimRight(text[:cut], " ") + "\n")
		text = strings.Repeat(" ", indent) + strings.TrimLeft(text[cut:], " ")
	}
	return b.String() + text + "\n"
}

// percent never rounds up to 100: what is not all is shown as less.
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

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// duration with two digits that count.
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
