package plan

import (
	"strings"

	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// sizes is what a body costs by each way of counting, in tokens and without a
// factor, and how much of the first of them are media, which all charge alike.
type sizes struct {
	all   []int
	media int
	list  learn.List
}

// sizesOf counts a body as it is sent. exact is what the plan says of the body, 0
// where that is not exactly what it costs.
func (p *Plan) sizesOf(req *wire.Request, msgs []compact.Message, exact int) (s sizes) {
	t := p.Terms
	ways := t.ways[:t.plain]
	if t.OwnCounter() {
		ways = []Way{{Counter: t.Policy.Counter}}
	}
	for _, w := range ways {
		if len(ways) == 1 && p.Facts.Percent() == 100 && p.Facts.Count.Value.Way == w.Name && exact > 0 {
			s.all = append(s.all, exact)
			break
		}
		s.all = append(s.all, w.Counter.Fixed(req.Beside)+compact.CostAll(w.Counter, msgs))
	}
	for i := 0; !t.OwnCounter() && len(s.all) < len(t.ways); i++ {
		l, c := omissions[i/len(ways)], ways[i%len(ways)].Counter
		n := s.all[i%len(ways)] - l.left(c, msgs)
		if l.tools {
			n -= c.Fixed(compact.Beside{Tools: req.Tools, Functions: req.Functions}) - c.Fixed(compact.Beside{})
		}
		s.all = append(s.all, n)
	}
	thinking, bytes := 0, 0
	for i := range msgs {
		m := &msgs[i]
		thinking += m.Reasoning.Len()
		bytes += m.Reasoning.Len()
		for k := range m.Parts {
			part := &m.Parts[k]
			bytes += part.Text.Len()
			if part.Kind.Media() {
				s.media += ways[0].Counter.Part(m, part)
			} else if text, _ := part.Text.Source(); m.Role == compact.Assistant && strings.Contains(text, "/think") {
				thinking += part.Text.Len()
			}
		}
		for k := range m.Calls {
			bytes += m.Calls[k].Arguments.Len()
		}
		s.list.Bytes = append(s.list.Bytes, bytes)
	}
	s.list.Conversation, s.list.Thinking = t.beginning(req.Conversation.Messages), thinking/bytesOfToken
	return s
}

// bytesOfToken is how many bytes of thinking are a token at the least, on average.
const bytesOfToken = 3

// Sent describes the body to what learns from its answer.
func (a *Account) Sent() learn.Sent {
	t := a.Terms
	s := learn.Sent{
		Sizes: a.sizes.all, Media: a.sizes.media, Way: a.Facts.Count.Value.Way, Percent: a.Facts.Percent(), Bytes: a.Bytes, Asked: t.asked,
		Limits: t.Limits, Told: t.Told, OwnCounter: t.OwnCounter() || t.Chosen, Exact: len(t.ways) == 1 && t.ways[0].Counter.Exact(), Bound: a.Bound,
		Plain: t.plain, List: a.sizes.list, Agent: t.Counts,
	}
	for _, w := range t.ways {
		s.Ways = append(s.Ways, w.Name)
	}
	return s
}
