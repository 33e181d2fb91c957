package report

import (
	"cmp"
	"fmt"
	"slices"

	"laconic/replay"
)

// mostMarks is how many epochs have their number above the drawing.
const mostMarks = 40

// mostDots is how many requests that changed something have a dot.
const mostDots = 1000

// sawtooth draws the cost of each request of a conversation, as the client sent
// it and as the upstream receives it, with the levels of the policy and a link to
// every request that changed something. If the history costs far more than what
// was sent, its line is clipped at the top.
func sawtooth(s *replay.Shown) string {
	n := len(s.Requests)
	whole, sent := 0.0, float64(s.Tokens)
	for i := range s.Requests {
		whole, sent = max(whole, float64(s.Requests[i].Full)), max(sent, float64(s.Requests[i].Tokens))
	}
	if sent > 3*whole { // a budget that nothing comes near
		sent = whole
	}
	width := float64(max(2, n))
	p := &plot{
		width: 1080, height: 360, right: 118,
		x: axisOver(0, width, 10, "request of the conversation"),
		y: axisOver(0, min(max(whole, sent), 1.6*sent), 5, "tokens of the request"),
	}
	p.x.to, p.x.step = width, max(1, p.x.step)
	p.axes()
	if p.y.to < whole {
		p.text(p.width, 12, "hint", "end", "the client's requests go up to "+kilo(whole))
	}
	const id = "sawtooth"
	fmt.Fprintf(p, `<clipPath id="%s"><rect x="%g" y="%g" width="%g" height="%g"/></clipPath><g clip-path="url(#%s)">`+"\n",
		id, left, top, p.width-left-p.right, p.height-top-bottom, id)
	p.area(n, func(k int) int { return s.Requests[k].Cached })
	p.path("full", n, func(k int) int { return s.Requests[k].Full })
	levels := []struct {
		class, name string
		of          func(int) int
	}{
		{"budget", "budget", func(int) int { return s.Tokens }},
		{"trigger", "trigger", func(k int) int { return s.Requests[k].Trigger }},
		{"land", "land", func(k int) int { return s.Requests[k].Land }},
	}
	for _, l := range levels {
		if n > 0 && l.of(n-1) > 0 {
			p.path(l.class, n, l.of)
		}
	}
	p.WriteString(`<g class="s0">`)
	p.path("sent", n, func(k int) int { return s.Requests[k].Tokens })
	p.WriteString("</g></g>\n")

	type label struct {
		y    float64
		text string
	}
	var labels []label
	for _, l := range levels {
		if n == 0 || l.of(n-1) == 0 {
			continue
		}
		if y := p.py(float64(l.of(n - 1))); y >= top-1 {
			labels = append(labels, label{y, l.name + " " + replay.Thousands(l.of(n-1))})
		}
	}
	slices.SortFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	last := 0.0
	for _, l := range labels {
		last = max(l.y+4, last+14)
		p.text(p.width-p.right+6, last, "hint", "start", l.text)
	}

	marks := 0
	for i := range s.Requests {
		if s.Requests[i].Rows != nil {
			marks++
		}
	}
	dots := 0
	for i := range s.Requests {
		r := &s.Requests[i]
		if r.Rows == nil || dots == mostDots {
			continue
		}
		dots++
		x, y := p.px(float64(i+1)), p.py(float64(r.Tokens))
		class, what := "mark", "changed"
		if len(r.Epochs) > 0 {
			class, what = "epoch", fmt.Sprintf("epoch %d", r.First)
		}
		fmt.Fprintf(p, `<a href="#r%d" class="s0">`, i+1)
		if marks <= mostMarks {
			p.line(class, x, top, x, p.height-bottom)
			if len(r.Epochs) > 0 {
				p.text(x, top-5, "tick", "middle", fmt.Sprint(r.First))
			}
		}
		fmt.Fprintf(p, `<circle cx="%.1f" cy="%.1f" r="4" class="dot"><title>request %d, %s: %s tokens sent of %s</title></circle></a>`+"\n",
			x, max(y, top), i+1, what, replay.Thousands(r.Tokens), replay.Thousands(r.Full))
	}
	return p.svg(fmt.Sprintf("tokens of each request, budget %s", replay.Thousands(s.Tokens)))
}

// area fills what is below a number of each of n requests.
func (p *plot) area(n int, value func(int) int) {
	if n == 0 {
		return
	}
	floor := p.py(0)
	all := drawn(n, value)
	fmt.Fprintf(p, `<polygon class="s0 area" points="%.1f,%.1f `, p.px(float64(all[0]+1)), floor)
	for _, k := range all {
		fmt.Fprintf(p, "%.1f,%.1f ", p.px(float64(k+1)), p.py(float64(value(k))))
	}
	fmt.Fprintf(p, `%.1f,%.1f"/>`+"\n", p.px(float64(all[len(all)-1]+1)), floor)
}

// mostPoints is about how many points of a line can be told apart.
const mostPoints = 2000

// drawn returns which of n requests are points of a line: all, or of many those
// between which the line is as high and as low as it is with all.
func drawn(n int, value func(int) int) []int {
	var all []int
	if n <= mostPoints {
		for k := range n {
			all = append(all, k)
		}
		return all
	}
	size := (n + mostPoints/4 - 1) / (mostPoints / 4)
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		low, high := from, from
		for k := from; k < to; k++ {
			if value(k) < value(low) {
				low = k
			}
			if value(k) > value(high) {
				high = k
			}
		}
		some := []int{from, low, high, to - 1}
		slices.Sort(some)
		all = append(all, slices.Compact(some)...)
	}
	return all
}
