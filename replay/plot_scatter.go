package replay

import (
	"fmt"
	"html"
	"math"
)

// metric is what a scatter plot shows against cost.
type metric struct {
	name, label string
	of          func(*Numbers) float64
}

var metrics = []metric{
	{"recall where it fits", "recall in requests that fit, %", (*Numbers).FitRecall},
	{"verbatim where it fits", "verbatim recall in requests that fit, %", (*Numbers).FitVerbatim},
	{"recall", "recall, % of the values used", (*Numbers).Recall},
	{"verbatim", "verbatim recall, %", (*Numbers).VerbatimRecall},
}

// scatter draws recall against cost for one budget of a file. All budgets of
// the file have the same axes, so that pictures side by side compare.
func scatter(f *FileResult, budget string, m metric, policies []string) string {
	low, cheap, dear := 1.0, 1.0, 1.0
	for i := range f.Rows {
		low = min(low, m.of(&f.Rows[i].Numbers))
		cheap, dear = min(cheap, f.Rows[i].Cost()), max(dear, f.Rows[i].Cost())
	}
	y := axisOver(max(0, 100*low-1), 100, 5)
	y.to = 100
	y.label = m.label
	y.format = func(v float64) string { return fmt.Sprintf("%.4g", v) }
	x := axisOver(max(0, cheap-0.1), dear+0.05, 5) // room for names beside the points
	x.label = "cost (1 = sending everything)"
	x.format = func(v float64) string { return fmt.Sprintf("%.4g", v) }
	p := newPlot(460, 330, x, y)
	p.axes()
	p.add(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="mark"/>`, num(p.px(1)), num(p.px(1)), num(p.top), num(p.height-p.bottom))
	p.text(p.width-p.right, 16, "hint", "end", "better: up and left")

	var taken []box // by points and labels
	type point struct {
		class, name string
		x, y        float64
		n           *Numbers
	}
	var points []point
	for i := range f.Rows {
		r := &f.Rows[i]
		if r.Budget != budget {
			continue
		}
		pt := point{class: class(policies, r.Policy), name: r.Policy, x: p.px(r.Cost()), y: p.py(100 * m.of(&r.Numbers)), n: &r.Numbers}
		points = append(points, pt)
		taken = append(taken, box{pt.x - 6, pt.y - 6, 12, 12})
	}
	for _, pt := range points {
		at := place(p, pt.x, pt.y, pt.name, taken)
		taken = append(taken, at.box)
		p.add(`<g class="%s">`, pt.class)
		p.text(at.at, at.y+10, "name", at.anchor, pt.name)
		p.add(`</g>`)
	}
	for _, pt := range points {
		// A policy that does not always fit is drawn as a ring: it buys its
		// place with requests that the upstream refuses.
		shape, note := "dot", ""
		if pt.n.FairFits < pt.n.Fair {
			shape, note = "ring", ", does not always fit"
		}
		p.add(`<g class="%s"><circle cx="%s" cy="%s" r="5.5" class="%s"><title>%s: %s %s at cost %.3f%s</title></circle></g>`,
			pt.class, num(pt.x), num(pt.y), shape, html.EscapeString(pt.name), m.name, percentOf(m.of(pt.n)), pt.n.Cost(), note)
	}
	return p.svg(fmt.Sprintf("%s against cost, budget %s, %s", m.name, budget, f.File))
}

// label is where a label stands: its box, and the point that it is anchored at.
type label struct {
	box
	at     float64
	anchor string
}

// place finds the place beside a point where its name covers least.
func place(p *plot, x, y float64, name string, taken []box) label {
	const h = 13
	w := 9 * float64(len([]rune(name))) // of bold letters of 13 to 15 px, rather more than less
	var best label
	least := math.Inf(1)
	for i, c := range []struct {
		dy     float64
		anchor string
	}{
		{-7, "start"},
		{-7, "end"},
		{-23, "middle"},
		{9, "middle"},
		{-20, "start"},
		{7, "start"},
		{-20, "end"},
		{7, "end"},
		{20, "start"},
		{-33, "start"},
		{20, "end"},
		{-33, "end"},
	} {
		l := label{box{x + 9, y + c.dy, w, h}, x + 9, c.anchor}
		switch c.anchor {
		case "end":
			l.x, l.at = x-9-w, x-9
		case "middle":
			l.x, l.at = x-w/2, x
		}
		covered := float64(i) // the first places are nearer
		for _, t := range taken {
			covered += 10 * l.overlap(t)
		}
		inside := box{p.left, p.top - 6, p.width - p.left - 4, p.height - p.top - p.bottom + 6}
		covered += 10 * (l.w*l.h - l.overlap(inside))
		if covered < least {
			best, least = l, covered
		}
	}
	return best
}

// class is a policy's place in the style sheet: its colour.
func class(policies []string, name string) string {
	for i, p := range policies {
		if p == name {
			return fmt.Sprintf("s%d", i%colours)
		}
	}
	return "s0"
}

// colours is how many the style sheet has.
const colours = 8

func percentOf(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
