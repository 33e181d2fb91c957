package proxy

import (
	"strconv"

	"laconic/compact"
)

// budget is what a request may cost by the limits that are set for its model
// and by what was learnt of it: the smaller of the two. An upstream that
// refused less than its configuration promises knows better.
func (l *Learnt) budget(set compact.Limits, asked int) compact.Budget {
	if l.Messages > 0 && (set.MaxMessages == 0 || set.MaxMessages > l.Messages) {
		set.MaxMessages = l.Messages
	}
	b := set.For(asked)
	b.Hard = l.Hard
	if l.Window == 0 && l.Input == 0 && l.Cap == 0 && !l.Sums {
		return b
	}
	if own := l.limits(set, asked).For(asked); own.Tokens < b.Tokens {
		own.Hard = b.Hard
		b = own
	}
	return b
}

// limits are those of the upstream: what was learnt, else what is set, without
// a budget that somebody chose.
func (l *Learnt) limits(set compact.Limits, asked int) compact.Limits {
	set.Budget = 0
	if l.Window > 0 {
		set.Window = l.Window
	}
	if l.Input > 0 {
		set.Input = lower(set.Input, l.Input)
	}
	if l.Cap > 0 {
		set.Input = lower(set.Input, max(1, l.Cap*l.percent()/100))
	}
	if l.Sums {
		answer := asked
		if answer == 0 {
			answer = l.Answer
		}
		// An answer that leaves no room for a prompt was asked for in error.
		if !noRoom(answer, window(set)) {
			set.Reserve = max(set.Reserve, answer)
		}
	}
	return set
}

// accepts is the longest prompt that the upstream takes as far as is known: no
// room is kept for an answer that nobody asked for.
func (l *Learnt) accepts(set compact.Limits, asked int) int {
	lim := l.limits(set, asked)
	answer := asked
	if answer == 0 && l.Sums {
		answer = l.Answer
	}
	w := window(lim)
	n := w - min(answer, w/2)
	if l.Sums {
		n = w - min(answer, w-1)
	}
	if lim.Input > 0 {
		n = min(n, lim.Input)
	}
	if l.Hard > 0 {
		n = min(n, l.Hard)
	}
	return n
}

func window(l compact.Limits) int {
	if l.Window > 0 {
		return l.Window
	}
	return compact.DefaultWindow
}

func lower(a, b int) int {
	if a == 0 || b < a {
		return b
	}
	return a
}

// counter is c as its counts turned out.
func (l *Learnt) counter(c compact.Counter) compact.Counter {
	if l.percent() == 100 {
		return c
	}
	return calibrated{c, l.percent()}
}

// tag tells counts of one factor, and of one limit of bytes, from those of
// another, in the key of a text that was cut to a size; "" for neither.
func (t *trip) tag() (tag string) {
	if way, p := t.facts.Way, t.facts.percent(); way != "" || p != 100 {
		tag = way + "@" + strconv.Itoa(p)
	}
	if t.weight != nil {
		tag += "/" + strconv.Itoa(t.weight.bytes)
	}
	return tag
}

// calibrated counts by another counter and corrects each piece, so that costs
// still add up.
type calibrated struct {
	compact.Counter
	percent int
}

func (c calibrated) scaled(n int) int { return (n*c.percent + 50) / 100 }

func (c calibrated) Envelope(m *compact.Message) int { return c.scaled(c.Counter.Envelope(m)) }
func (c calibrated) Part(p *compact.Part) int        { return c.scaled(c.Counter.Part(p)) }
func (c calibrated) Call(k *compact.Call) int        { return c.scaled(c.Counter.Call(k)) }

func (c calibrated) Fixed(tools, functions, format []byte) int {
	return c.scaled(c.Counter.Fixed(tools, functions, format))
}

// Calibration finds out by which of several ways of counting an upstream counts,
// and with which factor. It is asked under a lock.
type Calibration interface {
	// Answered adds a prompt that was answered: its size by each way of counting,
	// the factor in percent that it was planned by, and what the upstream counted.
	// cut reports whether the upstream counted so little that it must have cut the
	// prompt.
	Answered(sizes []int, percent, counted int) (cut bool)
	// Refused adds the same of a prompt that was refused as too long.
	Refused(sizes []int, percent, counted int)
	// Measured reports whether the count is known. Way is then its index, and
	// Percent the factor on it, in percent: 100 for none.
	Measured() bool
	Way() int
	Percent() int
}
