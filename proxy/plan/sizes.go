package plan

import (
	"strings"

	"laconic/compact"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// sentAs describes a body of so many bytes to what learns from its answer. exact is what
// the plan says of the body, 0 where that is not exactly what it costs. Media are charged
// alike by all ways of counting.
func (p *Plan) sentAs(req *wire.Request, msgs []compact.Message, exact, bytes int) learn.Sent {
	t := p.Terms
	s := learn.Sent{
		Way: p.Facts.Count.Value.Way, Percent: p.Facts.Percent(), Bytes: bytes, Asked: t.asked,
		Limits: t.Limits, Told: t.Told, OwnCounter: t.ownCounter() || t.Chosen, Exact: len(t.ways) == 1 && t.ways[0].Counter.Exact(), Bound: p.Bound,
		Plain: t.plain, Agent: t.Counts,
	}
	for _, w := range t.ways {
		s.Ways = append(s.Ways, w.Name)
	}
	ways := t.ways
	if t.ownCounter() {
		ways = []Way{{Counter: t.Policy.Counter}}
	}
	for _, w := range ways {
		n := exact
		if n == 0 || p.Facts.Percent() != 100 || p.Facts.Count.Value.Way != w.Name {
			n = w.Counter.Fixed(req.Beside) + compact.CostAll(w.Counter, msgs)
		}
		s.Sizes = append(s.Sizes, n)
	}
	thinking, texts := 0, 0
	for i := range msgs {
		m := &msgs[i]
		thinking += m.Reasoning.Len()
		texts += m.Reasoning.Len()
		for k := range m.Parts {
			part := &m.Parts[k]
			texts += part.Text.Len()
			if part.Kind.Media() {
				s.Media += ways[0].Counter.Part(m, part)
			} else if text, _ := part.Text.Source(); m.Role == compact.Assistant && strings.Contains(text, "/think") {
				thinking += part.Text.Len()
			}
		}
		for k := range m.Calls {
			texts += m.Calls[k].Arguments.Len()
		}
		s.List.Bytes = append(s.List.Bytes, texts)
	}
	s.List.Conversation, s.List.Thinking = t.beginning(req.Conversation.Messages), thinking/bytesOfToken
	return s
}

// bytesOfToken is how many bytes of thinking are a token at the least, on average.
const bytesOfToken = 3
