package report

import (
	"fmt"
	"strings"

	"laconic/replay"
)

// whisker is how a point of a plot varies over files: its metric and its cost.
type whisker struct{ metric, cost replay.Spread }

// fewFiles is the number of files below which quartiles say nothing that the
// extremes do not.
const fewFiles = 4

// whiskersOf returns the whiskers of the rows of the total, or nil if there is
// one file.
func whiskersOf(r *replay.Result, m metric) []whisker {
	if r.Spreads == nil {
		return nil
	}
	all := make([]whisker, len(r.Total.Rows))
	for i := range all {
		all[i] = whisker{metric: r.SpreadOfFacts(i, m.of), cost: r.SpreadOf(i, (*replay.Numbers).Cost)}
	}
	return all
}

// draw draws a cross through a point: a thin line with ends from the least to the
// most file, a thick one over the middle half of them.
func (w whisker) draw(p *plot, x, y float64) {
	const end = 3.5 // half of the line at each end
	if c := w.cost; c.Files > 1 {
		p.line("whisker", p.px(c.Least), y, p.px(c.Most), y)
		p.line("whisker", p.px(c.Least), y-end, p.px(c.Least), y+end)
		p.line("whisker", p.px(c.Most), y-end, p.px(c.Most), y+end)
		if c.Files >= fewFiles {
			p.line("middle", p.px(c.Low), y, p.px(c.High), y)
		}
	}
	if m := w.metric; m.Files > 1 {
		p.line("whisker", x, p.py(100*m.Least), x, p.py(100*m.Most))
		p.line("whisker", x-end, p.py(100*m.Least), x+end, p.py(100*m.Least))
		p.line("whisker", x-end, p.py(100*m.Most), x+end, p.py(100*m.Most))
		if m.Files >= fewFiles {
			p.line("middle", x, p.py(100*m.Low), x, p.py(100*m.High))
		}
	}
}

// says returns the whisker in words, for the tooltip of its point.
func (w whisker) says(m metric) string {
	text := ""
	if s := w.metric; s.Files > 1 {
		text += fmt.Sprintf("; %s of %d files: %.1f to %.1f %%, median %.1f %%", m.name, s.Files, 100*s.Least, 100*s.Most, 100*s.Median)
	}
	if s := w.cost; s.Files > 1 {
		text += fmt.Sprintf("; cost of %d files: %.3f to %.3f, median %.3f", s.Files, s.Least, s.Most, s.Median)
	}
	return text
}

// spreadColumn is one number of the block that says how files differ.
type spreadColumn struct {
	title string
	quart bool // left out on a narrow terminal
	value func(*replay.Spreads) string
}

var spreadColumns = []spreadColumn{
	{"recall: least", false, func(s *replay.Spreads) string { return share(s.Recall, s.Recall.Least) }},
	{"¼", true, func(s *replay.Spreads) string { return share(s.Recall, s.Recall.Low) }},
	{"median", false, func(s *replay.Spreads) string { return share(s.Recall, s.Recall.Median) }},
	{"¾", true, func(s *replay.Spreads) string { return share(s.Recall, s.Recall.High) }},
	{"most", false, func(s *replay.Spreads) string { return share(s.Recall, s.Recall.Most) }},
	{"cost: least", false, func(s *replay.Spreads) string { return fmt.Sprintf("%.3f", s.Cost.Least) }},
	{"¼", true, func(s *replay.Spreads) string { return fmt.Sprintf("%.3f", s.Cost.Low) }},
	{"median", false, func(s *replay.Spreads) string { return fmt.Sprintf("%.3f", s.Cost.Median) }},
	{"¾", true, func(s *replay.Spreads) string { return fmt.Sprintf("%.3f", s.Cost.High) }},
	{"most", false, func(s *replay.Spreads) string { return fmt.Sprintf("%.3f", s.Cost.Most) }},
}

// share returns one number of a spread of shares.
func share(s replay.Spread, v float64) string {
	if s.Files == 0 {
		return "–"
	}
	const whole = 1000
	return percent(int(v*whole+1e-9), whole)
}

// spreadRows returns the block that says how the files differ, its titles first;
// nil if there is one file. If width is above 0 and too small for all columns, the
// quartiles are left out.
func spreadRows(r *replay.Result, width int) [][]string {
	if r.Spreads == nil {
		return nil
	}
	rows := func(quartiles bool) [][]string {
		titles := []string{"budget", "policy"}
		for _, c := range spreadColumns {
			if quartiles || !c.quart {
				titles = append(titles, c.title)
			}
		}
		rows := [][]string{titles}
		for i := range r.Spreads {
			s := &r.Spreads[i]
			cells := []string{s.Budget, s.Policy}
			for _, c := range spreadColumns {
				if quartiles || !c.quart {
					cells = append(cells, c.value(s))
				}
			}
			rows = append(rows, cells)
		}
		return rows
	}
	all := rows(true)
	if width > 0 && len([]rune(aligned(all[:1], widthsOf(all)))) > width+1 {
		return rows(false)
	}
	return all
}

// spreadHeading is the title of that block.
func spreadHeading(r *replay.Result) string {
	return fmt.Sprintf("how the %s differ", replay.Count(len(r.Files), "file"))
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
