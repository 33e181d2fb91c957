package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"laconic/replay"
)

// plot is a drawing area with axes, written as SVG. Colours come from the
// page's style sheet: s0, s1 … are the policies.
type plot struct {
	strings.Builder
	width, height float64
	right         float64 // margin for names
	x, y          axis
}

// The other margins.
const (
	left   = 52.0
	top    = 30.0
	bottom = 46.0
)

// axis is a range of data with its ticks.
type axis struct {
	from, to, step float64
	label          string
}

// axisOver returns an axis from at most low to at least high, with about n
// ticks at round numbers.
func axisOver(low, high float64, n int, label string) axis {
	if high <= low {
		high = low + 1
	}
	raw := (high - low) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{5, 2.5, 2, 1} {
		if m*power >= raw {
			step = m * power
		}
	}
	return axis{from: math.Floor(low/step) * step, to: math.Ceil(high/step) * step, step: step, label: label}
}

// ticks returns the round numbers of an axis.
func (a *axis) ticks() (all []float64) {
	for i := range int((a.to-a.from)/a.step+0.5) + 1 {
		if v := a.from + float64(i)*a.step; v <= a.to+a.step/1000 {
			all = append(all, v)
		}
	}
	return all
}

func (p *plot) px(x float64) float64 {
	return left + (x-p.x.from)/(p.x.to-p.x.from)*(p.width-left-p.right)
}

func (p *plot) py(y float64) float64 {
	return p.height - bottom - (y-p.y.from)/(p.y.to-p.y.from)*(p.height-top-bottom)
}

func (p *plot) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(p, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

func (p *plot) text(x, y float64, class, anchor, label string) {
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`+"\n", x, y, class, anchor, template.HTMLEscapeString(label))
}

// axes draws grid, ticks and labels.
func (p *plot) axes() {
	floor, end := p.height-bottom, p.width-p.right
	for _, v := range p.y.ticks() {
		p.line("grid", left, p.py(v), end, p.py(v))
		p.text(left-6, p.py(v)+4, "tick", "end", kilo(v))
	}
	for _, v := range p.x.ticks() {
		p.line("axis", p.px(v), floor, p.px(v), floor+4)
		p.text(p.px(v), floor+18, "tick", "middle", kilo(v))
	}
	p.line("axis", left, floor, end, floor)
	p.text((left+end)/2, p.height-8, "label", "middle", p.x.label)
	p.text(4, 16, "label", "start", p.y.label)
}

// svg returns the whole picture. title is read aloud where it cannot be seen.
func (p *plot) svg(title string) string {
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s" xmlns="http://www.w3.org/2000/svg">`+"\n%s</svg>\n",
		p.width, p.height, template.HTMLEscapeString(title), p.String())
}

// metric is what a scatter plot shows against cost.
type metric struct {
	name, label string
	of          func(*replay.Numbers) float64
}

var metrics = []metric{
	{"recall where it fits", "recall in requests that fit, %", (*replay.Numbers).FitRecall},
	{"recall", "recall, % of the values used", (*replay.Numbers).Recall},
	{"verbatim", "verbatim recall, %", (*replay.Numbers).VerbatimRecall},
	{"edits", "edits whose old lines are shown, %", (*replay.Numbers).ShownEdits},
}

// scatter draws a metric against cost for one budget of a file, with the names
// of the policies beside it, and with the whiskers of the rows of f, if it has
// any. All budgets of the file have the same axes, so that pictures side by side
// compare.
func scatter(f *replay.FileResult, whiskers []whisker, budget string, m metric, policies []string) string {
	low, cheap, dear := 1.0, 1.0, 1.0
	type dot struct {
		*replay.Row
		whisker
	}
	var rows []dot
	for i := range f.Rows {
		r := dot{Row: &f.Rows[i]}
		low, cheap, dear = min(low, m.of(&r.Numbers)), min(cheap, r.Cost()), max(dear, r.Cost())
		if whiskers != nil {
			r.whisker = whiskers[i]
			if r.metric.Files > 1 {
				low = min(low, r.metric.Least)
			}
			if r.cost.Files > 1 {
				cheap, dear = min(cheap, r.cost.Least), max(dear, r.cost.Most)
			}
		}
		if r.Budget == budget {
			rows = append(rows, r)
		}
	}
	p := &plot{
		width: 460, height: 330, right: 96,
		x: axisOver(max(0, cheap-0.05), dear+0.05, 5, "cost (1 = sending everything)"),
		y: axisOver(max(0, 100*low-1), 100, 5, m.label),
	}
	p.axes()
	p.line("mark", p.px(1), top, p.px(1), p.height-bottom)
	p.text(p.width-4, 16, "hint", "end", "better: up and left")
	slices.SortStableFunc(rows, func(a, b dot) int { return cmp.Compare(m.of(&b.Numbers), m.of(&a.Numbers)) })
	name := 0.0 // y of the last name
	for i, r := range rows {
		x, y := p.px(r.Cost()), p.py(100*m.of(&r.Numbers))
		// Each name is beside its point, below the previous name, with space for
		// the next ones.
		name = min(max(y, name+15), p.height-bottom-15*float64(len(rows)-1-i))
		fmt.Fprintf(p, `<g class="%s">`, class(policies, r.Policy))
		r.draw(p, x, y)
		p.line("lead", x, y, p.width-p.right+2, name)
		p.text(p.width-p.right+5, name+4, "name", "start", r.Policy)
		fmt.Fprintf(p, `<circle cx="%.1f" cy="%.1f" r="5.5" class="dot"><title>%s: %s %.1f %% at cost %.3f%s</title></circle></g>`+"\n",
			x, y, template.HTMLEscapeString(r.Policy), m.name, 100*m.of(&r.Numbers), r.Cost(), r.says(m))
	}
	return p.svg(fmt.Sprintf("%s against cost, budget %s, %s", m.name, budget, f.File))
}

// overTurns draws the cost of each request of a conversation under one budget, a
// line per policy, with a dot at every epoch. If the whole history costs far more
// than what was sent, its line is clipped at the top. id is unique on the page.
func overTurns(series []replay.Series, policies []string, id string) string {
	first := &series[0]
	n := float64(max(2, len(first.Turns)))
	whole, sent := 0.0, float64(first.Tokens)
	for i := range series {
		for _, t := range series[i].Turns {
			whole, sent = max(whole, float64(t.Full)), max(sent, float64(t.Sent))
		}
	}
	p := &plot{
		width: 1080, height: 380, right: 16,
		x: axisOver(0, n, 10, "request of the conversation"),
		y: axisOver(0, min(max(whole, sent), 1.6*sent), 5, "tokens of the request"),
	}
	p.x.to, p.x.step = n, max(1, p.x.step)
	p.axes()
	if p.y.to < whole {
		p.text(p.width-p.right, 16, "hint", "end", "everything goes up to "+kilo(whole))
	}
	inner := fmt.Sprintf(`x="%g" y="%g" width="%g" height="%g"`, left, top, p.width-left-p.right, p.height-top-bottom)
	fmt.Fprintf(p, `<clipPath id="%s"><rect %s/></clipPath><g clip-path="url(#%s)">`, id, inner, id)
	p.path("full", len(first.Turns), func(k int) int { return first.Turns[k].Full })
	by := p.py(float64(first.Tokens))
	p.line("budget", left, by, p.width-p.right, by)
	p.text(left+6, by-5, "hint", "start", "budget "+replay.Thousands(first.Tokens))
	for i := range series {
		s := &series[i]
		fmt.Fprintf(p, `<g class="%s">`, class(policies, s.Policy))
		p.path("sent", len(s.Turns), func(k int) int { return s.Turns[k].Sent })
		for k, t := range s.Turns {
			if t.Epoch {
				fmt.Fprintf(p, `<circle cx="%.1f" cy="%.1f" r="3" class="dot"><title>%s: epoch at request %d, %s tokens sent of %s</title></circle>`,
					p.px(float64(k+1)), p.py(float64(t.Sent)), template.HTMLEscapeString(s.Policy), k+1, replay.Thousands(t.Sent), replay.Thousands(t.Full))
			}
		}
		p.WriteString("</g>\n")
	}
	fmt.Fprintf(p, `</g><line class="cross" y1="%g" y2="%g" x1="0" x2="0" visibility="hidden"/><rect class="pad" %s/>`, top, p.height-bottom, inner)
	return p.svg(fmt.Sprintf("tokens of each request, budget %s, %s", first.Budget, notice(first.Conversation)))
}

// path draws a number of each of n requests over the numbers of the requests,
// from 1.
func (p *plot) path(class string, n int, value func(int) int) {
	fmt.Fprintf(p, `<polyline class="%s" points="`, class)
	for _, k := range drawn(n, value) {
		fmt.Fprintf(p, "%.1f,%.1f ", p.px(float64(k+1)), p.py(float64(value(k))))
	}
	p.WriteString("\"/>\n")
}

// class returns the class of a policy in the style sheet, which has eight colours.
func class(policies []string, name string) string {
	return fmt.Sprintf("s%d", max(0, slices.Index(policies, name))%8)
}

// kilo formats a number with three digits.
func kilo(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}
