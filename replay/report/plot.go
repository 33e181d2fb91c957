package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
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

// path draws a number of each of n requests over the numbers of the requests,
// from 1.
func (p *plot) path(class string, n int, value func(int) int) {
	fmt.Fprintf(p, `<polyline class="%s" points="`, class)
	for _, k := range drawn(n, value) {
		fmt.Fprintf(p, "%.1f,%.1f ", p.px(float64(k+1)), p.py(float64(value(k))))
	}
	p.WriteString("\"/>\n")
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
