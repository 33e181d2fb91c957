package compact

import "unicode/utf8"

// Estimator is a Counter for programs that have no tokenizer: it divides the
// length of what is sent. The zero value of a field is its default where one
// is named.
type Estimator struct {
	// PerToken is how much text one token stands for; 0: 3.5. English prose
	// has about 4 bytes to the token, code and JSON about 3.
	PerToken float64
	// PerMessage is added for each message, in tokens: role and framing.
	PerMessage int
	// PerMedia is the cost of one image, sound or file, in tokens; 0: 512.
	// Vision models charge from 85 to about 1,500; the size of the data says
	// nothing.
	PerMedia int
	// Characters: text is measured in characters; else in bytes, which is
	// known without decoding it.
	Characters bool
}

var _ Counter = Estimator{}

// BytesPerToken counts n bytes of text as one token, and eight tokens more for
// each message. 3.5 is on the safe side for English and code.
func BytesPerToken(n float64) Estimator { return Estimator{PerToken: n, PerMessage: 8} }

// Envelope counts name, id, reasoning and a refusal by their length, an answer
// in sound at the price of media.
func (e Estimator) Envelope(m *Message) int {
	n := e.PerMessage + e.tokens(len(m.Name)+len(m.Answers)+e.length(m.Reasoning)+e.length(m.Refusal))
	if m.Sound {
		n += e.media()
	}
	return n
}

// Part counts a text by its length, media at a fixed price, and what is unknown
// as text, but not above the price of media.
func (e Estimator) Part(p *Part) int {
	switch p.Kind {
	case KindText, KindRefusal:
		return e.tokens(e.length(p.Text))
	case KindOther:
		return min(e.tokens(e.length(p.Text)), e.media())
	}
	return e.media()
}

func (e Estimator) media() int {
	if e.PerMedia > 0 {
		return e.PerMedia
	}
	return 512
}

// Call counts id, name and arguments.
func (e Estimator) Call(c *Call) int {
	return e.tokens(len(c.ID) + len(c.Name) + e.length(c.Arguments))
}

// Fixed counts the bytes of the definitions.
func (e Estimator) Fixed(tools, functions, format []byte) int {
	return e.tokens(len(tools) + len(functions) + len(format))
}

// Exact is false.
func (e Estimator) Exact() bool { return false }

func (e Estimator) length(t Text) int {
	if e.Characters {
		return utf8.RuneCountInString(t.String())
	}
	return t.Len()
}

func (e Estimator) tokens(length int) int {
	per := e.PerToken
	if per <= 0 {
		per = 3.5
	}
	return int(float64(length) / per)
}
