package proxy

import (
	"slices"

	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// Way is one way in which an upstream may count.
type Way struct {
	Name    string // the same in every process
	Counter compact.Counter
}

// Guessing is the Counter of a model whose tokenizer may be a guess. Those of
// Routes may be, but need not.
type Guessing interface {
	compact.Counter
	// Ways are the ways in which the upstream may count; the first is the counter
	// itself. None where its tokenizer is known.
	Ways() []Way
	// Careful is the factor, in percent, on the first way where a prompt that is
	// too long may be cut without a word.
	Careful() int
}

// waysOf returns the ways of counting of a counter, one at least.
func waysOf(c compact.Counter) []Way {
	if g, ok := c.(Guessing); ok {
		if ways := g.Ways(); len(ways) > 0 {
			return ways
		}
	}
	return []Way{{Counter: c}}
}

// wayOf returns the index of the way that f names; ok reports whether the
// counter has it.
func (t *trip) wayOf(f *learn.Facts) (way int, ok bool) {
	way = slices.IndexFunc(t.ways, func(w Way) bool { return w.Name == f.Count.Value.Way })
	return max(way, 0), way >= 0
}

// counting returns f with the way and the factor that hold until answers have
// shown how the upstream counts.
func (t *trip) counting(f learn.Facts, refuses bool) learn.Facts {
	if _, ok := t.wayOf(&f); ok && f.Count.Value.Percent != 0 {
		return f
	}
	f.Count.Value = learn.Count{Way: t.ways[0].Name}
	if g, ok := t.ways[0].Counter.(Guessing); ok && !refuses && g.Careful() != 100 {
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
// is not part of how the request was counted. counted is what the plan says of
// the body, 0 where that is not exactly what it costs.
func (t *trip) sizesOf(req *wire.Request, msgs []compact.Message, counted int) (s sizes) {
	ways := waysOf(t.route.Counter)
	if own := t.policy().Counter; own != nil {
		ways = []Way{{Counter: own}}
	}
	for _, w := range ways {
		if len(ways) == 1 && t.facts.Percent() == 100 && counted > 0 {
			s.all = append(s.all, counted)
			break
		}
		s.all = append(s.all, w.Counter.Fixed(req.Tools, req.Functions, req.ResponseFormat)+compact.CostAll(w.Counter, msgs))
	}
	for i := range msgs {
		for k := range msgs[i].Parts {
			switch p := &msgs[i].Parts[k]; p.Kind {
			case compact.KindImage, compact.KindAudio, compact.KindFile, compact.KindVideo:
				s.media += ways[0].Counter.Part(p)
			}
		}
	}
	return s
}

// by returns the size that f counts by, before its factor.
func (t *trip) by(s sizes, f *learn.Facts) int {
	if way, _ := t.wayOf(f); way < len(s.all) {
		return s.all[way]
	}
	return s.all[0] // of a policy with a counter of its own
}
