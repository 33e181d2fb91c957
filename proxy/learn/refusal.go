package learn

import (
	"cmp"
	"time"

	"laconic/compact"
	"laconic/proxy/overflow"
)

// What upstreams say is believed within bounds. See also [compact.Credible].
const (
	leastMessages = 8
	// percentSlack is how far, in percent, a count may be off its factor.
	percentSlack = 5
	// leastCounted is the prompt, in tokens, below which counts are mostly
	// framing and say little about the counter.
	leastCounted = 500
	// leastGuess is the smallest limit, in tokens, that is kept for a refusal
	// without numbers.
	leastGuess = 1024
	// leastBytes is the smallest limit on a body, in bytes, that is believed at once: no
	// server is set up for less.
	leastBytes = 64 << 10
	// mostMedia is the part of a prompt, one in so many, above which media decide
	// what it costs: their formulas are not what a factor corrects.
	mostMedia = 10
)

// tooLongBy is how much shorter a prompt is tried when a refusal has no number
// that explains it.
const tooLongBy = 0.7

// Trial is what a second body is planned under in the place of a refused one.
type Trial struct {
	Facts Facts
	// kept are the guesses among them, which are kept once the second body was
	// answered.
	kept    Facts
	life    time.Duration // of the guesses
	refusal overflow.Refusal
	limit   int  // that the refusal states, in tokens, if it may be meant
	guessed bool // the prompt has to be shorter by a guess
	// Full: other requests may have filled what was full, or unknown words may be about
	// something else.
	Full bool
}

// leastUnsure is the longest prompt, in tokens, of which no refusal is believed in
// words that nobody knows: one that is refused for its length is longer.
const leastUnsure = 4000

// Doubtful reports whether a refusal, in words that nobody knows, cannot be one for
// the length of what was sent: that is short, or the only hint, a number, is not near.
func (s Sent) Doubtful(r overflow.Refusal) bool {
	n := s.Planned()
	return r.Unsure && n <= leastUnsure || r.Wordless && (3*r.Prompt < 2*n || 2*r.Prompt > 3*n)
}

// Hopeless reports whether no prompt could be short enough: the answer that was
// asked for takes the whole window, or all but a sixteenth.
func Hopeless(r overflow.Refusal) bool { return noRoom(r.Output, compact.Credible(r.Limit)) }

// noRoom reports whether an answer leaves too little of a known window for a useful
// prompt.
func noRoom(answer, window int) bool {
	return window > 0 && answer > 0 && answer >= window-window/16
}

// limitOf returns the limit of tokens that a refusal states, or 0 if it cannot be
// meant.
func limitOf(r overflow.Refusal) int {
	if r.Kind == overflow.Bytes || r.Kind == overflow.Count || r.Unsure {
		return 0
	}
	return compact.Credible(r.Limit)
}

// counted returns how long a refusal says the prompt was, in tokens; 0 where it
// says nothing of the counter.
func counted(r overflow.Refusal, s *Sent, size int) (n int) {
	switch {
	case r.Kind == overflow.Bytes, r.Kind == overflow.Count, r.Unsure, r.Limit > 0 && limitOf(r) == 0, r.AtLeast:
	case r.Prompt > 0:
		n = r.Prompt
	case s.Asked > 0:
		n = r.Total - s.Asked
	}
	answer := max(r.Output, s.Asked)
	if size < leastCounted || n+answer < limitOf(r) {
		return 0 // it does not explain the refusal
	}
	return max(n, 0)
}

// Refused learns from a refusal, and returns what a second body is planned under.
func (m *Model) Refused(r overflow.Refusal, s Sent) (t Trial) {
	m.learnFrom(&s, func(now time.Time, f *Facts) { t = m.learn(now, f, r, &s) })
	return t
}

// Accepted notes that the second body was answered.
func (m *Model) Accepted(t Trial) {
	m.change(func(now time.Time, f *Facts) {
		f.Together = f.Together.with(t.kept.Together, now)
		for _, n := range []struct{ known, kept *Fact[int] }{{&f.Input, &t.kept.Input}, {&f.Bytes, &t.kept.Bytes}, {&f.Hard, &t.kept.Hard}} {
			if n.kept.Value > 0 && n.kept.Value == compact.Lower(n.known.Value, n.kept.Value) {
				*n.known = *n.kept
			}
		}
	})
}

// RefusedAgain learns from the refusal of the second body. It is no second word on
// the limit: an upstream that states a smaller one each time is not followed down.
func (m *Model) RefusedAgain(t Trial, r overflow.Refusal, s Sent) {
	repeated := r.Prompt > 0 && r.Prompt == t.refusal.Prompt && !r.AtLeast // the first answer once more
	if r.Kind == overflow.None || Hopeless(r) || repeated {
		return
	}
	m.learnFrom(&s, func(now time.Time, f *Facts) {
		if t.limit == 0 && (limitOf(r) > 0 || !t.guessed) {
			m.learn(now, f, r, &s)
			return
		}
		m.correct(now, f, r, &s)
		if t.guessed {
			m.refused, m.unsure = compact.Lower(m.refused, s.cost(f)), 0
		}
	})
}

// learn changes the facts by what a refusal says. Only the trial holds guesses.
func (m *Model) learn(now time.Time, f *Facts, r overflow.Refusal, s *Sent) Trial {
	t := Trial{refusal: r, limit: limitOf(r), life: limitLife}
	if r.Unsure || r.Shared {
		t.life = unsureLife // it is soon put to the test again
	}
	switch r.Kind {
	case overflow.Count:
		if r.Limit >= leastMessages {
			f.Messages = believe(r.Limit, now, limitLife)
		}
		t.Facts = *f
	case overflow.Bytes:
		// It says nothing of tokens: a picture of a megabyte may cost a thousand.
		most := s.Bytes - 1
		if r.Limit >= leastBytes && r.Limit <= most {
			most = r.Limit
			f.Bytes = believe(compact.Lower(f.Bytes.Value, most), now, limitLife)
		}
		t.Facts = *f
		t.Facts.Bytes.Value = compact.Lower(f.Bytes.Value, max(most, 1))
		if most >= leastBytes {
			t.kept.Bytes = believe(most, now, limitLife)
		} else if m.again(s.cost(f)) {
			t.kept.Bytes = believe(most, now, unsureLife)
		}
	default:
		answered := m.answered
		n := m.correct(now, f, r, s)
		t.Facts = m.stated(now, f, r, s, t.limit)
		size := s.cost(f)
		t.Full = m.crowded(f, r, s, size)
		if !r.Alone && !r.PromptOnly && !t.Full && (counts(r, s) || f.short(r, s)) {
			t.Facts.Together = believe(true, now, factLife)
			if t.kept.Together = t.Facts.Together; t.limit > 0 {
				f.Together = t.kept.Together
			}
		}
		b := t.Facts.Budget(s.Limits, s.Asked)
		more := n*100 > (100+percentSlack)*size
		if r.Kind != overflow.Quota && (more || b.Above(size).Room() >= size) {
			if m.guess(now, &t, size, n, answered); !more && b.Tokens < size {
				t.kept.Input = Fact[int]{} // the window makes shorter what may leave
			}
		}
		t.bound(now, s, size)
	}
	return t
}

// stated notes the limit that a refusal states, and returns the facts under it. A
// limit that contradicts what is known is only tried, and both are forgotten: it
// is believed when it is stated again, as it is when a model was loaded anew with
// a smaller window.
func (m *Model) stated(now time.Time, f *Facts, r overflow.Refusal, s *Sent, limit int) Facts {
	if limit == 0 {
		return *f
	}
	with := *f
	at, of := &f.Window, &with.Window
	if r.Alone {
		at, of = &f.Input, &with.Input
	}
	*of = believe(limit, now, limitLife)
	answer := cmp.Or(s.Asked, r.Output)
	// An answer that was asked for takes at most half the window elsewhere.
	if left := limit - answer; counts(r, s) && compact.Credible(left) > 0 && !noRoom(answer, limit) && (s.Asked == 0 && answer > 0 || answer > limit/2) {
		with.Input = believe(left, now, limitLife)
	}
	size := max(r.Total, r.Prompt+r.Output, s.cost(f))
	switch {
	case limit <= m.sure:
		m.answered, m.sure = 0, 0
	case limit < at.Value && size <= at.Value:
		*at = believe(0, now, limitLife)
	default:
		*f = with
	}
	return with
}

// counts reports whether a refusal counts the answer that was asked for.
func counts(r overflow.Refusal, s *Sent) bool {
	return r.Output > 0 || r.Prompt == 0 && !r.AtLeast && r.Total > s.Asked
}

// short reports whether the prompt alone is within the window that a refusal states,
// or that is known, so that only an answer beside it explains the refusal.
func (f *Facts) short(r overflow.Refusal, s *Sent) bool {
	window := cmp.Or(limitOf(r), f.Window.Value)
	if window == 0 && s.Stated {
		window = s.Limits.Window
	}
	prompt := s.cost(f) * (100 + percentSlack) / 100
	if r.Prompt > 0 && !r.Unsure {
		prompt = r.Prompt
	}
	return prompt <= window
}

// guess makes the second prompt shorter than the refused one, where nothing that
// is known does. The guess is kept only if a prompt of that length was answered,
// and never below what was answered before. Nothing is kept of a trial that is Full.
func (m *Model) guess(now time.Time, t *Trial, size, counted, answered int) {
	limit := t.limit
	if r := &t.refusal; r.Unsure && r.Prompt <= mostAbove*size && r.Prompt >= size/mostAbove {
		limit, counted = r.Limit, r.Prompt
	}
	n := int(tooLongBy * float64(compact.Lower(m.refused, size)))
	switch {
	case counted > 0 && limit > 0 && limit < counted:
		n = min(n, int(0.9*float64(size)*float64(limit)/float64(counted)))
	case t.refusal.Unsure && !t.Full && answered >= leastGuess:
		n = min(n, answered) // the first of them was cured by that
	}
	n = max(n, 1)
	t.Facts.Input.Value = compact.Lower(t.Facts.Input.Value, n)
	if t.guessed = !t.Full || t.refusal.Unsure; !t.Full && answered < size && n >= leastGuess {
		t.kept.Input = believe(max(n, answered), now, t.life)
	}
}

// bound sets the length with which a conversation with bound thinking is tried: a
// little less than what is accepted, for another mix of texts counts otherwise.
func (t *Trial) bound(now time.Time, s *Sent, size int) {
	if !s.Bound || size <= 0 {
		return
	}
	trial := t.Facts
	trial.Hard = Fact[int]{} // in other tokens
	accepts := trial.Accepts(s.Limits, s.Asked)
	n := min(s.Sizes[0]*(accepts-accepts/32)/size, s.Sizes[0]-1)
	t.Facts.Hard.Value = compact.Lower(t.Facts.Hard.Value, n)
	if !t.Full {
		t.kept.Hard = believe(n, now, t.life)
	}
}

// correct corrects the counter by what a refusal counted, and returns that.
func (m *Model) correct(now time.Time, f *Facts, r overflow.Refusal, s *Sent) (n int) {
	if n = counted(r, s, s.cost(f)); n > 0 && s.witness() {
		m.calibrate(now, f, s, func(c Calibration) { c.Refused(s.Sizes, s.Percent, n) })
	}
	return n
}
