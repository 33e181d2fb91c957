package proxy

import "laconic/compact"

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

// Counted is how the texts of one request were counted: how many had been
// counted before, in whatever request, and how many were new. Texts that are
// too short to be remembered are in neither.
type Counted struct{ Hits, Misses int }

// Remembering is a Counter that remembers counts and can tell how well. Those
// of Routes may be, but need not.
type Remembering interface {
	compact.Counter
	// ForRequest gives a counter for one request, which counts as this one
	// does, and what tells how its texts were counted so far.
	ForRequest() (c compact.Counter, counted func() Counted)
}

// counter is the counter for one request of a route, and what tells how it
// counted.
func (r *Route) counter() (compact.Counter, func() Counted) {
	if c, ok := r.Counter.(Remembering); ok {
		return c.ForRequest()
	}
	return r.Counter, func() Counted { return Counted{} }
}
