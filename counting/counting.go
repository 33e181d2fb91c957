// Package counting lets compact count with the tokenizer of a model. The packages
// compact and tokenize do not know each other, and nothing here knows the proxy. A
// text that was counted is not counted again in the process: later requests, of any
// model with the same tokenizer, get the remembered count.
package counting

import (
	"cmp"
	"iter"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"laconic/compact"
	"laconic/tokenize"
)

// Counter is a [compact.Counter] that counts with the tokenizer of a model. It is
// safe for concurrent use.
type Counter struct {
	model *tokenize.Counter
	// plain are texts as they are, escaped ones as in JSON; tools,
	// functions and formats are raw JSON.
	plain, escaped, tools, formats, unknown textCache
	// pdfs are files as in JSON; their pages cost what the family
	// says. messages are whole messages, by their sums.
	pdfs, messages textCache
	quotes         bool // the texts of results
	mute           bool // texts beside calls cost nothing
	// least is the length of the shortest text that is remembered, in bytes.
	least int
	// others are further ways of counting, where nobody knows the tokenizer;
	// guess: this is one of them, or it has others.
	others []*Counter
	guess  bool
	// served: it counts for a model that an upstream says it runs.
	served bool
}

// counts are the counts of all texts of this process.
var counts = sync.OnceValue(func() *cache { return newCache(mostCounts) })

// Stats returns how many texts of this process were counted before, and how many
// were new. Short ones are in neither.
func Stats() (hits, misses uint64) {
	s := counts().counts.Stats()
	return s.Hits, s.Misses
}

// For returns the counter of a model, with another tokenizer where the
// configuration names one.
func For(model, tokenizer string) (compact.Counter, error) {
	c := tokenize.For(model)
	c, err := c.Named(cmp.Or(tokenizer, c.Name()))
	if err != nil {
		return nil, err
	}
	k := newCounter(c, counts())
	for _, way := range c.Ways()[1:] {
		other := newCounter(way, counts())
		other.guess = true
		k.others, k.guess = append(k.others, other), true
	}
	return k, nil
}

// Limits completes what is known of a model by the built-in table of models: what is
// given first, then the table, then a default window.
func Limits(l compact.Limits, model string, window int) compact.Limits {
	known, input, _ := tokenize.Window(model)
	if l.Window = cmp.Or(l.Window, known, window); input < l.Window {
		l.Input = cmp.Or(l.Input, input)
	}
	return l
}

func newCounter(c *tokenize.Counter, counts *cache) *Counter {
	name := c.Name()
	return &Counter{
		model: c,
		plain: counts.texts(name), escaped: counts.texts(name + " escaped"),
		tools: counts.texts(name + " tools of " + c.Family()), formats: counts.texts(name + " formats"),
		unknown: counts.texts(name + " unknown"), pdfs: counts.texts(c.Family() + " PDFs"),
		messages: counts.texts(name + " messages of " + c.Family()), quotes: c.Quotes(), mute: c.Mute(),
	}
}

// Ways returns the counters by which the upstream may count, with their names; the
// first is this one. There are none if the tokenizer is known by the name of the model.
func (k *Counter) Ways() iter.Seq2[string, compact.Counter] {
	return func(yield func(string, compact.Counter) bool) {
		if !k.guess && !k.served || !yield(k.model.Name(), k) {
			return
		}
		for _, o := range k.others {
			if !yield(o.model.Name(), o) {
				return
			}
		}
	}
}

// Serving returns the counter of the model that an upstream says it runs when it is asked for k's; nil if that is k's, or
// nothing is said.
func (k *Counter) Serving(runs compact.Runs) compact.Counter {
	if runs != (compact.Runs{}) {
		if model := k.model.Serving(runs.Name, runs.Vocabulary, runs.Template); model != k.model {
			served := newCounter(model, counts())
			served.served = true
			return served
		}
	}
	return nil
}

// Tokenizer returns the tokenizer that k counts with.
func (k *Counter) Tokenizer() *tokenize.Counter { return k.model }

func (k *Counter) Careful() int { return k.model.Careful() }

func (k *Counter) Envelope(m *compact.Message) int {
	n := k.model.Envelope() + k.text(m.Reasoning) + k.text(m.Refusal) + k.model.Speaker(m.Name)
	if m.Sound {
		n += k.model.Audio("", "")
	}
	if m.Role.Result() {
		n += k.model.Result()
	}
	return n
}

func (k *Counter) Part(m *compact.Message, p *compact.Part) int {
	switch p.Kind {
	case compact.KindText:
		switch {
		case k.mute && len(m.Calls) > 0:
			return 0
		case k.quotes && m.Role.Result():
			quoted, _ := jsontext.AppendQuote(nil, p.Text.String())
			return k.remembered(k.plain, string(quoted), k.model.Text)
		}
		return k.text(p.Text)
	case compact.KindRefusal:
		return k.text(p.Text)
	case compact.KindImage:
		return k.model.Image(p.Text.String(), p.Detail)
	case compact.KindAudio:
		return k.model.Audio(p.Text.String(), p.Detail)
	case compact.KindFile:
		data, name := p.Text.String(), p.Detail
		if !tokenize.Searched(data, name) {
			return k.model.File(data, name)
		}
		// Only a PDF is work: it is searched for its pages.
		return k.remembered(k.pdfs, data, func(string) int { return k.model.File(data, name) })
	case compact.KindVideo:
		return k.model.Video(p.Text.String())
	}
	source, _ := p.Text.Source()
	return k.remembered(k.unknown, source, k.model.Unknown)
}

// Sum returns the sum by which the cost of a message is remembered, from its bytes.
func (k *Counter) Sum(raw string) compact.Sum { return k.messages.c.sum(raw) }

// longText is the length of texts, in bytes, that are remembered beside the message
// in which they stand: when something else in it changes, as markers do that move
// from turn to turn, they are not counted again.
const longText = 4 << 10

func (k *Counter) Message(m *compact.Message) int {
	if m.Edited || m.Sum == (compact.Sum{}) {
		return compact.CostOfPieces(k, m)
	}
	n, _ := k.messages.cost(m.Sum, func() int {
		pieces := *k
		pieces.least = longText
		return compact.CostOfPieces(&pieces, m)
	})
	return n
}

func (k *Counter) Call(c *compact.Call) int {
	return k.model.Call() + k.model.Text(c.Name) + k.text(c.Arguments)
}

func (k *Counter) Fixed(b compact.Beside) int {
	return k.model.Priming() + k.raw(k.tools, b.Tools, k.model.Tools) + k.raw(k.tools, b.Functions, k.model.Tools) +
		k.raw(k.formats, b.Format, k.model.Format)
}

func (k *Counter) Exact() bool { return k.model.Exact() && !k.guess }

// text counts a text. An estimate by length needs only that, which is known
// without decoding it.
func (k *Counter) text(t compact.Text) int {
	source, escaped := t.Source()
	switch {
	case k.model.Written():
		return k.model.Bytes(len(source))
	case !k.model.Reads():
		return k.model.Bytes(t.Len())
	case escaped:
		return k.remembered(k.escaped, source, func(string) int { return k.model.Text(t.String()) })
	}
	return k.remembered(k.plain, source, k.model.Text)
}

// raw counts a piece of JSON that is no message: what is made of tools is many
// times the work of a text, and every turn brings the same ones.
func (k *Counter) raw(texts textCache, raw []byte, count func([]byte) int) int {
	return k.remembered(texts, string(raw), func(string) int { return count(raw) })
}

func (k *Counter) remembered(texts textCache, text string, count func(string) int) int {
	if len(text) < k.least {
		return count(text)
	}
	n, _ := texts.count(text, count)
	return n
}
