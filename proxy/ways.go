package proxy

import (
	"laconic/compact"
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

// wayOf returns the index of the way that l names; ok reports whether the
// counter has it.
func (t *trip) wayOf(l *Learnt) (way int, ok bool) {
	for i := range t.ways {
		if t.ways[i].Name == l.Way {
			return i, true
		}
	}
	return 0, false
}

// counting completes l by the way and the factor that hold until answers have
// shown the count.
func (t *trip) counting(l Learnt, refuses bool) Learnt {
	if _, ok := t.wayOf(&l); ok && l.Percent != 0 {
		return l
	}
	l.Way, l.Percent = t.ways[0].Name, 0
	if g, ok := t.ways[0].Counter.(Guessing); ok && !refuses && g.Careful() != 100 {
		l.Percent = g.Careful()
	}
	return l
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
		if len(ways) == 1 && t.facts.percent() == 100 && counted > 0 {
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

// by returns the size that l counts by, before its factor.
func (t *trip) by(s sizes, l *Learnt) int {
	if way, _ := t.wayOf(l); way < len(s.all) {
		return s.all[way]
	}
	return s.all[0] // of a policy with a counter of its own
}

// mostMedia is the part of a prompt, one in so many, above which media decide
// what it costs: their formulas are not what a factor corrects.
const mostMedia = 10

// witness reports whether what an upstream counted says anything of the
// counter.
func (t *trip) witness(u *wire.Usage) bool {
	s := &t.sending.sizes
	return !t.ownCounter() && s.media*mostMedia <= s.all[0] && u.Cached <= u.Prompt
}
