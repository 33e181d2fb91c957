package proxy

import (
	"slices"

	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// waysOf returns the ways of counting of a route's counter, one at least. A
// tokenizer that is configured is the only one.
func (r *Route) waysOf(c compact.Counter) (ways []Way) {
	if g, ok := c.(Guessing); ok && r.Tokenizer == "" {
		for name, way := range g.Ways() {
			ways = append(ways, Way{name, way})
		}
	}
	if len(ways) == 0 {
		return []Way{{Counter: c}}
	}
	return ways
}

// wayOf returns the index of the way by which f counts, 0 where it names none.
func (c *planning) wayOf(f *learn.Facts) int {
	return max(0, slices.IndexFunc(c.ways, func(w Way) bool { return w.Name == f.Count.Value.Way }))
}

// counting returns f with the way and the factor that hold until answers have
// shown how the upstream counts: the first way, without what the upstream says that
// its template leaves out.
func (c *planning) counting(f learn.Facts, told compact.Published, refuses bool) learn.Facts {
	if f.Count.Value.Percent != 0 && c.ways[c.wayOf(&f)].Name == f.Count.Value.Way {
		return f
	}
	way := c.ways[0].Name
	if told.NoTools && len(c.ways) > c.plain {
		l := omissions[0]
		if told.NoCalls {
			l = omissions[1]
		}
		way = l.name(way)
	}
	f.Count = learn.Fact[learn.Count]{Value: learn.Count{Way: way}}
	if g, ok := c.ways[0].Counter.(Guessing); ok && !refuses && g.Careful() != 100 {
		f.Count.Value.Percent = g.Careful()
	}
	return f
}

// sizes is what a body costs by each way of counting, in tokens and without a
// factor, and how much of the first of them are media, which all charge alike.
type sizes struct {
	all   []int
	media int
}

// sizesOf counts a body as it is sent. Most of its texts were counted before; it
// is not part of how the request was counted. exact is what the plan says of the
// body, 0 where that is not exactly what it costs.
func (p *plan) sizesOf(req *wire.Request, msgs []compact.Message, exact int) (s sizes) {
	ways := p.c.x.route.waysOf(p.c.x.route.Counter)
	if p.c.ownCounter() {
		ways = []Way{{Counter: p.c.policy.Counter}}
	}
	for _, w := range ways {
		if len(ways) == 1 && p.facts.Percent() == 100 && p.facts.Count.Value.Way == w.Name && exact > 0 {
			s.all = append(s.all, exact)
			break
		}
		s.all = append(s.all, w.Counter.Fixed(req.Beside)+compact.CostAll(w.Counter, msgs))
	}
	for i := 0; !p.c.ownCounter() && len(s.all) < len(p.c.ways); i++ {
		l, c := omissions[i/len(ways)], ways[i%len(ways)].Counter
		n := s.all[i%len(ways)] - l.left(c, msgs)
		if l.tools {
			n -= c.Fixed(compact.Beside{Tools: req.Tools, Functions: req.Functions}) - c.Fixed(compact.Beside{})
		}
		s.all = append(s.all, n)
	}
	for i := range msgs {
		for k := range msgs[i].Parts {
			if part := &msgs[i].Parts[k]; part.Kind.Media() {
				s.media += ways[0].Counter.Part(part)
			}
		}
	}
	return s
}

// sent describes the body to what learns from its answer.
func (a *attempt) sent() learn.Sent {
	c := a.c
	s := learn.Sent{
		Sizes: a.sizes.all, Media: a.sizes.media, Way: a.facts.Count.Value.Way, Percent: a.facts.Percent(), Bytes: a.bytes, Asked: c.asked,
		Limits: c.limits, Told: c.told(c.info.Told), OwnCounter: c.ownCounter() || c.x.route.Tokenizer != "", Exact: len(c.ways) == 1 && c.ways[0].Counter.Exact(), Bound: a.bound,
		Plain: c.plain, Agent: c.counts,
	}
	for _, w := range c.ways {
		s.Ways = append(s.Ways, w.Name)
	}
	return s
}
