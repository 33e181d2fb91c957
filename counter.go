package main

import (
	"laconic/compact"
	"laconic/tokenize"
)

// counting lets compact count with the tokenizer of a model: the two packages
// do not know each other.
type counting struct{ model *tokenize.Counter }

// counterFor gives the counter of a model, with another tokenizer where the
// configuration names one.
func counterFor(model, tokenizer string) (compact.Counter, error) {
	c := tokenize.For(model)
	if tokenizer != "" {
		var err error
		if c, err = c.Named(tokenizer); err != nil {
			return nil, err
		}
	}
	return counting{c}, nil
}

func (k counting) Envelope(m *compact.Message) int {
	n := k.model.Envelope() + k.text(m.Reasoning)
	if m.Name != "" {
		n += 1 + k.model.Text(m.Name)
	}
	return n
}

func (k counting) Part(p *compact.Part) int {
	source, _ := p.Text.Source()
	switch p.Kind {
	case compact.KindText, compact.KindRefusal:
		return k.text(p.Text)
	case compact.KindImage:
		return k.model.Image(source, p.Detail)
	case compact.KindAudio:
		return k.model.Audio(source, p.Detail)
	case compact.KindFile:
		return k.model.File(source, p.Detail)
	}
	return 0
}

func (k counting) Call(c *compact.Call) int {
	return k.model.Call() + k.model.Text(c.Name) + k.text(c.Arguments)
}

func (k counting) Fixed(tools, functions, format []byte) int {
	return k.model.Priming() + k.model.Tools(tools) + k.model.Tools(functions) + k.model.Format(format)
}

func (k counting) Exact() bool { return k.model.Exact() }

// text counts a text. An estimate needs only its length, which is known
// without decoding it.
func (k counting) text(t compact.Text) int {
	if !k.model.Exact() {
		return k.model.Bytes(t.Len())
	}
	return k.model.Text(t.String())
}
