package replay

import (
	"fmt"
	"html"
	"strings"
)

// mostPoints is how many points a line has at most: more than a screen is
// wide.
const mostPoints = 600

// overTurns draws what each request of a conversation cost under one budget,
// a line per policy, with a dot at every epoch. Where everything costs far more
// than what was sent, its line leaves the picture at the top. id is unique on
// the page.
func overTurns(series []Series, policies []string, width, height float64, id string) string {
	first := &series[0]
	whole, sent := 0.0, float64(first.Tokens)
	for _, t := range first.Turns {
		whole = max(whole, float64(t.Full))
	}
	for i := range series {
		for _, t := range series[i].Turns {
			sent = max(sent, float64(t.Sent))
		}
	}
	high := min(max(whole, sent), 1.6*sent)
	n := len(first.Turns)
	x := axisOver(0, float64(max(n, 2)), int(width/100))
	x.to = max(float64(n), 2)
	x.step = max(1, x.step)
	x.label = "request of the conversation"
	x.format = func(v float64) string { return fmt.Sprintf("%.0f", v) }
	y := axisOver(0, high*1.02, 5)
	if y.to < whole {
		y.to = high * 1.02
	}
	y.label = "tokens of the request"
	y.format = kilo
	p := newPlot(width, height, x, y)
	p.axes()
	if y.to < whole {
		p.text(width-p.right, 16, "hint", "end", "everything goes up to "+kilo(whole))
	}
	p.add(`<clipPath id="%s"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath><g clip-path="url(#%s)">`,
		id, num(p.left), num(p.top), num(p.width-p.left-p.right), num(p.height-p.top-p.bottom+4), id)

	var full []float64
	for _, t := range first.Turns {
		full = append(full, float64(t.Full))
	}
	p.line("full", full)
	by := p.py(float64(first.Tokens))
	p.add(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="budget"/>`, num(p.left), num(p.width-p.right), num(by), num(by))
	p.text(p.left+6, by-5, "hint", "start", "budget "+thousands(first.Tokens))
	for i := range series {
		s := &series[i]
		var sent []float64
		for _, t := range s.Turns {
			sent = append(sent, float64(t.Sent))
		}
		p.add(`<g class="%s">`, class(policies, s.Policy))
		p.line("sent", sent)
		for k, t := range s.Turns {
			if t.Epoch {
				p.add(`<circle cx="%s" cy="%s" r="3" class="dot"><title>%s: epoch at request %d, %s tokens sent of %s</title></circle>`,
					num(p.px(float64(k+1))), num(p.py(float64(t.Sent))), html.EscapeString(s.Policy), k+1, thousands(t.Sent), thousands(t.Full))
			}
		}
		p.add(`</g>`)
	}
	p.add(`</g>`)
	p.add(`<line class="cross" y1="%s" y2="%s" x1="0" x2="0" visibility="hidden"/>`, num(p.top), num(p.height-p.bottom))
	p.add(`<rect class="pad" x="%s" y="%s" width="%s" height="%s" data-n="%d"/>`,
		num(p.left), num(p.top), num(p.width-p.left-p.right), num(p.height-p.top-p.bottom), n)
	return p.svg(fmt.Sprintf("tokens of each request, budget %s, %s", first.Budget, first.Conversation))
}

// line draws values over the numbers of the requests, from 1.
func (p *plot) line(class string, values []float64) {
	var points strings.Builder
	for _, i := range thinned(values, mostPoints) {
		fmt.Fprintf(&points, "%s,%s ", num(p.px(float64(i+1))), num(p.py(values[i])))
	}
	p.add(`<polyline class="%s" points="%s"/>`, class, strings.TrimSpace(points.String()))
}

// thinned chooses at most about n indices such that no peak and no valley is
// lost: the lowest and the highest of each stretch.
func thinned(values []float64, n int) []int {
	var keep []int
	if len(values) <= n {
		for i := range values {
			keep = append(keep, i)
		}
		return keep
	}
	stretch := (2*len(values) + n - 1) / n
	for from := 0; from < len(values); from += stretch {
		low, high := from, from
		for i := from; i < min(from+stretch, len(values)); i++ {
			if values[i] < values[low] {
				low = i
			}
			if values[i] > values[high] {
				high = i
			}
		}
		keep = append(keep, min(low, high))
		if low != high {
			keep = append(keep, max(low, high))
		}
	}
	return keep
}

// kilo writes a number of tokens short.
func kilo(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}
