package proxy

import (
	"time"

	"laconic/proxy/overflow"
)

// What upstreams say is believed within bounds: some write 0, or a number that
// cannot be meant.
const (
	leastBelieved = 128         // tokens: no window is smaller
	mostBelieved  = 100_000_000 // tokens
	leastMessages = 8
	leastPercent  = 40
	mostPercent   = 300
	// percentSlack is how far, in percent, a count may be off its factor.
	percentSlack = 5
	// leastCounted is the prompt, in tokens, below which counts are mostly
	// framing and say little about the counter.
	leastCounted = 500
	// leastTold is the smallest limit, in tokens, that a refusal is believed.
	// No model that talks is loaded with less, and a prompt that was folded to
	// less holds nothing but instructions.
	leastTold = 512
	// leastKept is the smallest length, in tokens, that is remembered for a
	// refusal without numbers.
	leastKept = 1024
	// leastBytes is the smallest limit on a body, in bytes, that is believed.
	leastBytes = 4 << 10
	// leastKeptBytes is the smallest size of a body, in bytes, that is remembered
	// for a refusal that told no limit: no server is set up for less.
	leastKeptBytes = 64 << 10
)

// tooLongBy is how much shorter a prompt is tried when a refusal tells nothing
// that explains it.
const tooLongBy = 0.7

// sized is what is known about a body that was sent.
type sized struct {
	sizes    sizes
	estimate int // the one of sizes that counts, in tokens before Percent
	bytes    int
	asked    int // tokens of answer that the request asks for; 0: it does not say
}

// taught is what one refusal leads to.
type taught struct {
	// trial is what the second send is made under: what is known, and what is
	// only tried.
	trial Learnt
	// limit is the one that was told, in tokens, if it may be believed.
	limit int
	// passed are what is remembered besides once the second send was answered.
	passed []func(l *Learnt, now time.Time)
	// guessed: the second send is shorter by a guess.
	guessed bool
}

// hopeless tells whether no prompt could be short enough: the answer that was
// asked for takes all there is, or all but a sixteenth.
func hopeless(r overflow.Refusal) bool {
	return believable(r.Limit) > 0 && noRoom(r.Output, r.Limit)
}

// noRoom tells whether an answer leaves no room in a window for a prompt that
// is worth to be made.
func noRoom(answer, window int) bool { return answer > 0 && answer >= window-window/16 }

func believable(n int) int {
	if n < leastBelieved || n > mostBelieved {
		return 0
	}
	return n
}

// limitOf is the limit of tokens that a refusal tells, 0 for one that cannot be
// meant.
func limitOf(r overflow.Refusal) int {
	if r.Kind == overflow.Bytes || r.Kind == overflow.Count || r.Limit < leastTold {
		return 0
	}
	return believable(r.Limit)
}

// learn takes from a refusal what it tells. Nothing in it is guessed.
func (l *Learnt) learn(now time.Time, r overflow.Refusal, s sized) (x taught) {
	switch r.Kind {
	case overflow.Count:
		if r.Limit >= leastMessages && r.Limit < 1<<20 {
			l.Messages, l.Until, l.Since = r.Limit, now.Add(limitLife), now
		}
		x.trial = *l
	case overflow.Bytes:
		x = l.heavy(now, r, s)
	default:
		x = l.told(now, r, s)
	}
	return x
}

// heavy notes the size of a body that was refused. It says nothing of tokens:
// a picture of a megabyte may cost a thousand. Where no limit was told, it is
// remembered only if a smaller body was answered.
func (l *Learnt) heavy(now time.Time, r overflow.Refusal, s sized) (x taught) {
	most, is := s.bytes-1, r.Limit >= leastBytes && r.Limit < s.bytes
	if is {
		most = r.Limit
	}
	x.trial = *l
	if most <= 0 {
		return x
	}
	note := func(l *Learnt, now time.Time) {
		if most >= l.TookBytes {
			l.Bytes, l.GuessUntil = lower(l.Bytes, most), now.Add(guessLife)
		}
	}
	switch {
	case is:
		note(l, now)
		x.trial = *l
	case most >= leastKeptBytes:
		x.passed = append(x.passed, note)
	}
	x.trial.Bytes = lower(x.trial.Bytes, most)
	return x
}

// told notes a limit that a refusal told. One that is at odds with what is
// known is only tried: where a longer prompt was answered it must be told
// again, as it is when a model was loaded anew with a smaller window; where the
// upstream itself told a larger one, the second send may prove it too.
func (l *Learnt) told(now time.Time, r overflow.Refusal, s sized) (x taught) {
	x.limit = limitOf(r)
	if x.limit == 0 {
		x.trial = *l
		return x
	}
	note := func(l *Learnt, until time.Time) {
		if r.Alone {
			l.Input = x.limit
		} else {
			l.Window = x.limit
		}
		l.Until, l.Since = until, now
		if r.Output > 0 || r.Prompt == 0 && !r.AtLeast && r.Total > s.asked {
			l.Sums = true
		}
		if r.Output > 0 && s.asked == 0 {
			l.Answer = r.Output
		}
	}
	disproved := x.limit <= l.Took
	switch {
	case !disproved && !l.wavers(r, s):
		note(l, now.Add(limitLife))
	case l.Doubt > 0 && x.limit <= l.Doubt+l.Doubt/8 && x.limit >= l.Doubt-l.Doubt/8:
		note(l, now.Add(guessLife))
		l.Doubt, l.Took = 0, min(l.Took, x.limit-1)
	default:
		l.Doubt, l.GuessUntil = x.limit, now.Add(guessLife)
		if !disproved {
			x.passed = append(x.passed, func(l *Learnt, now time.Time) { note(l, now.Add(limitLife)) })
		}
	}
	x.trial = *l
	note(&x.trial, now.Add(limitLife))
	return x
}

// wavers tells whether an upstream refuses by a smaller limit than it told
// before what the limit it told before lets through.
func (l *Learnt) wavers(r overflow.Refusal, s sized) bool {
	known := l.Window
	if r.Alone {
		known = l.Input
	}
	size := max(r.Total, r.Prompt+r.Output, s.estimate*l.percent()/100)
	return r.Limit < known && size <= known
}

// counted is what a refusal tells of the counter: how long the prompt was, in
// tokens; 0 when it tells nothing.
func counted(r overflow.Refusal, s sized) (n int) {
	switch {
	case r.Kind == overflow.Bytes, r.Kind == overflow.Count, r.Limit > 0 && limitOf(r) == 0, r.AtLeast:
	case r.Prompt > 0:
		n = r.Prompt
	case s.asked > 0:
		n = r.Total - s.asked
	}
	answer := max(r.Output, s.asked)
	if s.estimate < leastCounted || n > mostBelieved || n+answer < limitOf(r) {
		return 0 // it does not explain the refusal
	}
	return max(n, 0)
}

// guess makes the second send shorter than what was refused, where nothing that
// is known does. It is remembered only if a prompt of that length was answered,
// and never below what was answered before.
func (x *taught) guess(r overflow.Refusal, s sized) {
	refused := s.estimate
	if x.trial.Tight > 0 && x.trial.Tight < refused {
		refused = x.trial.Tight
	}
	n := int(tooLongBy * float64(refused))
	if c := counted(r, s); c > 0 && x.limit > 0 && x.limit < c {
		n = min(n, int(0.9*float64(s.estimate)*float64(x.limit)/float64(c)))
	}
	n = max(n, leastBelieved/2)
	x.trial.Cap, x.guessed = lower(x.trial.Cap, n), true
	took := x.trial.Took * 100 / x.trial.percent()
	x.passed = append(x.passed, func(l *Learnt, now time.Time) {
		if l.Tight = 0; took >= s.estimate || n < leastKept {
			return
		}
		l.Cap, l.GuessUntil = lower(l.Cap, max(n, took)), now.Add(guessLife)
	})
}

// tight notes that also the second send was refused: the next one in the place
// of a refused one has to be shorter still.
func (l *Learnt) tight(now time.Time, s sized) {
	l.Tight, l.GuessUntil = lower(l.Tight, s.estimate), now.Add(guessLife)
}

// took notes a prompt that was answered: what it cost, 0 where that is not
// known, and its body. A little more than what is known changes nothing: it is
// stored.
func (l *Learnt) took(now time.Time, tokens, bytes int) {
	if tokens == 0 && bytes == 0 {
		return
	}
	if tokens <= l.Took+l.Took/8 && bytes <= l.TookBytes+l.TookBytes/8 {
		if again := tokens >= l.Took-l.Took/8; !again || l.TookUntil.After(now.Add(limitLife-time.Hour)) {
			return
		}
	}
	l.Took, l.TookBytes, l.TookUntil = max(l.Took, tokens), max(l.TookBytes, bytes), now.Add(limitLife)
}
