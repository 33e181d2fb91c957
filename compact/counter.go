package compact

import "unicode/utf8"

// A Counter says what the pieces of a request cost a model, in tokens. Costs are
// never negative, and they add up: a message costs its envelope, its parts and
// its calls. Implementations are pure and safe for concurrent use.
type Counter interface {
	// Envelope returns the cost of a message without its parts and calls:
	// framing, role, name, id, reasoning, and what it says beside its content.
	Envelope(m *Message) int
	// Part returns the cost of one part of m: of a text by its tokens, of media by a
	// formula. The upstream's chat template may leave out the texts of some messages,
	// or write them as JSON.
	Part(m *Message, p *Part) int
	// Call returns the cost of one call: name, arguments and framing.
	Call(c *Call) int
	// Fixed returns the cost of what the request has beside its messages.
	Fixed(b Beside) int
	// Exact reports whether the counts are the model's own. Estimates make the
	// default trigger lower.
	Exact() bool
}

// Beside is what a request has beside its messages, as raw JSON: nil if absent.
type Beside struct {
	Tools, Functions, Format []byte
	// Wire is the name of the API, whose upstreams frame tools in their own way.
	Wire string
}

// A Rememberer is a [Counter] that remembers what whole messages cost.
type Rememberer interface {
	Counter
	// Message returns what [CostOfPieces] does.
	Message(m *Message) int
}

// Cost returns what one message costs.
func Cost(c Counter, m *Message) int {
	if r, ok := c.(Rememberer); ok {
		return r.Message(m)
	}
	return CostOfPieces(c, m)
}

// CostOfPieces returns what the envelope, the parts and the calls of a message cost
// together.
func CostOfPieces(c Counter, m *Message) int {
	n := c.Envelope(m)
	for i := range m.Parts {
		n += c.Part(m, &m.Parts[i])
	}
	for i := range m.Calls {
		n += c.Call(&m.Calls[i])
	}
	return n
}

// CostText returns what a text costs in a message, without the rest of it.
func CostText(c Counter, text string) int {
	p := Part{Text: Plain(text)}
	return c.Part(&Message{}, &p)
}

// CostAll returns what messages cost together.
func CostAll(c Counter, msgs []Message) int {
	n := 0
	for i := range msgs {
		n += Cost(c, &msgs[i])
	}
	return n
}

// An Estimator is a [Counter] without a tokenizer: it divides the length of
// what is sent. The zero value of a field is its default, if one is stated.
type Estimator struct {
	// PerToken is the length of text per token; 0: 3.5. English prose has about
	// 4 bytes per token, code and JSON about 3.
	PerToken float64
	// PerMessage is the cost of role and framing of each message, in tokens.
	PerMessage int
	// PerMedia is the cost of one image, sound or file, in tokens; 0: 512.
	// Vision models charge from 85 to about 1,500; the size of the data says
	// nothing.
	PerMedia int
	// Characters measures text in characters. Otherwise it is measured in
	// bytes, whose number is known without decoding.
	Characters bool
}

var _ Counter = Estimator{}

// BytesPerToken returns an Estimator of n bytes per token, and eight tokens per
// message. 3.5 is on the safe side for English and code.
func BytesPerToken(n float64) Estimator { return Estimator{PerToken: n, PerMessage: 8} }

// Envelope implements [Counter]. Name, id, reasoning and a refusal cost their
// length, an answer in sound as much as media.
func (e Estimator) Envelope(m *Message) int {
	answers, _ := NameIn(m.Answers)
	n := e.PerMessage + e.tokens(len(m.Name)+len(answers)+e.length(m.Reasoning)+e.length(m.Refusal))
	if m.Sound {
		n += e.media()
	}
	return n
}

// Part implements [Counter]. A text costs its length, media a fixed price, and
// unknown parts their length, but no more than media.
func (e Estimator) Part(_ *Message, p *Part) int {
	switch p.Kind {
	case KindText, KindRefusal:
		return e.tokens(e.length(p.Text))
	case KindOther:
		return min(e.tokens(e.length(p.Text)), e.media())
	}
	return e.media()
}

func (e Estimator) media() int { return positive(e.PerMedia, 512) }

// Call implements [Counter]. Id, name and arguments cost their length.
func (e Estimator) Call(c *Call) int {
	id := c.ID
	if _, named := NameIn(id); named {
		id = ""
	}
	return e.tokens(len(id) + len(c.Name) + e.length(c.Arguments))
}

// Fixed implements [Counter]. Definitions cost their length in bytes.
func (e Estimator) Fixed(b Beside) int {
	return e.tokens(len(b.Tools) + len(b.Functions) + len(b.Format))
}

// Exact implements [Counter]. It returns false.
func (e Estimator) Exact() bool { return false }

func (e Estimator) length(t Text) int {
	if e.Characters {
		return utf8.RuneCountInString(t.String())
	}
	return t.Len()
}

func (e Estimator) tokens(length int) int { return int(float64(length) / positive(e.PerToken, 3.5)) }
