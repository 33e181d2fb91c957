package replay

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// plot is a drawing area with axes, written as SVG. Coordinates of data are
// turned into those of the picture. Colours come from the page's style sheet:
// s0, s1 … are the policies.
type plot struct {
	b             strings.Builder
	width, height float64
	left, right   float64 // margins
	top, bottom   float64
	x, y          axis
}

// axis is a range of data with its ticks.
type axis struct {
	from, to, step float64
	label          string
	format         func(float64) string
}

// axisOver is an axis from at most low to at least high, with about n ticks at
// round numbers.
func axisOver(low, high float64, n int) axis {
	if !(high > low) {
		high = low + 1
	}
	step := roundStep((high - low) / float64(n))
	return axis{from: math.Floor(low/step+1e-9) * step, to: math.Ceil(high/step-1e-9) * step, step: step}
}

// roundStep is the smallest of 1, 2, 2.5, 5 times a power of ten that is at
// least s.
func roundStep(s float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(s)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= s*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func newPlot(width, height float64, x, y axis) *plot {
	return &plot{width: width, height: height, left: 52, right: 16, top: 30, bottom: 46, x: x, y: y}
}

func (p *plot) px(x float64) float64 {
	return p.left + (x-p.x.from)/(p.x.to-p.x.from)*(p.width-p.left-p.right)
}

func (p *plot) py(y float64) float64 {
	return p.height - p.bottom - (y-p.y.from)/(p.y.to-p.y.from)*(p.height-p.top-p.bottom)
}

func (p *plot) add(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// text writes a label.
func (p *plot) text(x, y float64, class, anchor, label string) {
	p.add(`<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`, num(x), num(y), class, anchor, html.EscapeString(label))
}

// axes draws grid, ticks and labels.
func (p *plot) axes() {
	bottom, right := p.height-p.bottom, p.width-p.right
	for i := 0; ; i++ {
		v := p.y.from + float64(i)*p.y.step
		if v > p.y.to+p.y.step/1e6 {
			break
		}
		y := p.py(v)
		p.add(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="grid"/>`, num(p.left), num(right), num(y), num(y))
		p.text(p.left-6, y+4, "tick", "end", p.y.format(v))
	}
	for i := 0; ; i++ {
		v := p.x.from + float64(i)*p.x.step
		if v > p.x.to+p.x.step/1e6 {
			break
		}
		x := p.px(v)
		p.add(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="axis"/>`, num(x), num(x), num(bottom), num(bottom+4))
		p.text(x, bottom+18, "tick", "middle", p.x.format(v))
	}
	p.add(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="axis"/>`, num(p.left), num(right), num(bottom), num(bottom))
	p.text((p.left+right)/2, p.height-8, "label", "middle", p.x.label)
	p.text(4, 16, "label", "start", p.y.label)
}

// svg is the whole picture. title is read aloud where it cannot be seen.
func (p *plot) svg(title string) string {
	return fmt.Sprintf(`<svg viewBox="0 0 %s %s" role="img" aria-label="%s" xmlns="http://www.w3.org/2000/svg">`+"\n%s</svg>\n",
		num(p.width), num(p.height), html.EscapeString(title), p.b.String())
}

// num is a coordinate with a tenth of a pixel.
func num(v float64) string {
	s := fmt.Sprintf("%.1f", v)
	return strings.TrimSuffix(s, ".0")
}

// box is the place that a label takes.
type box struct{ x, y, w, h float64 }

func (a box) overlap(b box) float64 {
	w := min(a.x+a.w, b.x+b.w) - max(a.x, b.x)
	h := min(a.y+a.h, b.y+b.h) - max(a.y, b.y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h
}
