package learn

import (
	"cmp"

	"laconic/compact"
)

// Budget returns what a request may cost by the configured limits and by what was
// learnt: the smaller of the two. An upstream that refused less than its
// configuration promises knows better.
func (f *Facts) Budget(set compact.Limits, asked int) compact.Budget {
	set.MaxMessages = compact.Lower(set.MaxMessages, f.Messages.Value)
	set.Together = f.Together.Value
	b := set.For(asked)
	if f.Window.Value > 0 || f.Input.Value > 0 {
		own := f.limits(set)
		if f.Window.Value > 0 {
			own.Reserve = max(own.Reserve, own.Answer(asked)) // it stated what it has, and the client what it wants of that
		}
		if planned := own.For(asked); planned.Tokens < b.Tokens {
			if b = planned; set.Reserve > 0 || set.Budget > 0 {
				b.Window = 0
			} else {
				b.Window = own.Window
			}
		}
	}
	b.Hard = f.Hard.Value
	return b
}

// Decisive names the facts without which a request would be planned otherwise: of
// two processes that plan the same history in different ways, one lacks one of them.
// bytes is the size of the body, unbind that thinking leaves which left before.
func (f *Facts) Decisive(set compact.Limits, asked, bytes int, unbind bool) (names []string) {
	with := f.Budget(set, asked)
	for _, v := range []struct {
		name    string
		decides func(without Facts) bool
	}{
		{"window", func(o Facts) bool { o.Window = Fact[int]{}; return o.Budget(set, asked) != with }},
		{"input", func(o Facts) bool { o.Input = Fact[int]{}; return o.Budget(set, asked) != with }},
		{"together", func(o Facts) bool { o.Together = Fact[bool]{}; return o.Budget(set, asked) != with }},
		{"messages", func(o Facts) bool { o.Messages = Fact[int]{}; return o.Budget(set, asked) != with }},
		{"hard", func(o Facts) bool { o.Hard = Fact[int]{}; return o.Budget(set, asked) != with }},
		{"bytes", func(o Facts) bool { return o.Bytes.Value > 0 && bytes > o.Bytes.Value }},
		{"count", func(o Facts) bool { return o.Count.Value != Count{} }},
		{"shape", func(o Facts) bool { return o.Demands.Value != 0 }},
		{"thinking", func(Facts) bool { return unbind }},
	} {
		if v.decides(*f) {
			names = append(names, v.name)
		}
	}
	return names
}

// limits returns those of the upstream: what was learnt, else what is configured,
// without a budget that somebody chose.
func (f *Facts) limits(set compact.Limits) compact.Limits {
	set.Budget = 0
	set.Window = cmp.Or(f.Window.Value, set.Window)
	set.Input = compact.Lower(set.Input, f.Input.Value)
	set.Together = f.Together.Value
	return set
}

// Accepts returns the longest prompt that the upstream takes as far as is known.
// No room is kept for an answer that nobody asked for.
func (f *Facts) Accepts(set compact.Limits, asked int) int {
	l := f.limits(set)
	l.Window = cmp.Or(l.Window, compact.DefaultWindow)
	return compact.Lower(compact.Lower(l.Window-l.Answer(asked), l.Input), f.Hard.Value)
}

// Counter returns c as its counts turned out.
func (f *Facts) Counter(c compact.Counter) compact.Counter {
	if f.Count.Value == (Count{}) {
		return c
	}
	return calibrated{c, f.Percent(), !f.Count.Until.IsZero()}
}

// calibrated counts by another counter and corrects each piece, so that costs
// still add up.
type calibrated struct {
	compact.Counter
	percent   int
	confirmed bool // by answers, within some 2 %
}

// Exact reports whether the counter's counts are the model's own, or answers
// confirmed them.
func (c calibrated) Exact() bool { return c.confirmed || c.Counter.Exact() }

func (c calibrated) scaled(n int) int { return (n*c.percent + 50) / 100 }

func (c calibrated) Envelope(m *compact.Message) int { return c.scaled(c.Counter.Envelope(m)) }
func (c calibrated) Call(k *compact.Call) int        { return c.scaled(c.Counter.Call(k)) }

func (c calibrated) Part(m *compact.Message, p *compact.Part) int {
	return c.scaled(c.Counter.Part(m, p))
}

func (c calibrated) Fixed(b compact.Beside) int {
	return c.scaled(c.Counter.Fixed(b))
}
