package learn

import (
	"slices"
	"time"

	"laconic/compact"
)

// Bill is what an answer says of its prompt, in tokens.
type Bill struct {
	// Prompt is 0 where the answer does not say.
	Prompt, Completion, Cached int
	// NoRoom: the answer ended for its length before any output.
	NoRoom bool
}

// Answered learns from an answer: from its bill, and from the length that was
// accepted. cut reports whether the upstream dropped a part of the prompt, window is the
// one that is believed of that, 0 if none is or it was before, and doubtful reports
// whether the answer contradicts the window that the prompt was planned for.
func (m *Model) Answered(s Sent, b Bill) (cut bool, window int, doubtful bool) {
	m.learnFrom(&s, func(now time.Time, f *Facts) {
		prompt := s.Planned()
		sure := prompt / mostAbove
		reads := 0 // all that it does of a longer prompt, as far as this shows
		if b.Prompt > 0 {
			prompt, sure = b.Prompt, b.Prompt
			reads = m.starved.next(&s, b, m.answered)
			// Answers had shown the count, and this one is far below it.
			low := !f.Count.Until.IsZero() && s.witness() && b.Cached == 0 && b.Prompt >= leastCounted && wellBelow(b.Prompt, s.cost(f)) && !s.explains(b.Prompt, s.Plain)
			stood, stands := 0, false
			if g := m.growth(&s); g != nil {
				stood, stands = g.next(&s, b, low)
			}
			doubtful = stands || s.Planned() >= leastCounted && s.witness() && wellBelow(b.Prompt, s.Planned())
			switch {
			case s.fillsWindow(b, f):
				if cut = true; s.Asked == 0 || s.Asked >= leastAsked {
					reads = b.Prompt
				}
			case reads > 0 && m.published.Window == 0:
				cut = true
			case stood > 0:
				cut, reads = true, stood
			case !stands && s.witness() && b.Cached <= b.Prompt:
				m.calibrate(now, f, &s, func(c Calibration) { cut = c.Answered(s.Sizes, s.Percent, b.Prompt) })
			}
		}
		if cut {
			window = m.reads(now, f, reads)
			return // what was left of the prompt says nothing of what would be taken
		}
		f.disproved(now, sure, s.Bytes)
		w := s.Limits.Window
		if larger := f.Larger.Value || !s.Told && w > 0 && w < min(b.Prompt, compact.DefaultWindow); larger && f.Larger.aged(now) {
			f.Larger = believe(true, now, factLife)
		}
		m.answered, m.sure = max(m.answered, prompt), max(m.sure, sure)
		if prompt >= m.refused {
			m.refused = 0
		}
		if prompt >= m.unsure {
			m.unsure = 0
		}
	})
	return cut, window, s.Told && (cut || doubtful)
}

// starved is a run of answers that counted far less than was sent: their number, what
// was planned and counted of the first and of the last, and the largest count.
type starved struct {
	number                       int
	planned, counted             int // of the first
	lastPlanned, last, mostCount int
}

// next adds an answer. It returns the largest count of ever longer prompts, if two
// have the same or three have counts that do not grow as the prompts do: an upstream
// that drops whole messages counts a little more or less each time. answered is the
// longest prompt of which an answer is known.
func (r *starved) next(s *Sent, b Bill, answered int) (most int) {
	planned, before := s.Planned(), r.last
	if planned < leastCounted || !s.witness() || b.Cached > 0 || !wellBelow(b.Prompt, planned) || s.explains(b.Prompt, len(s.Sizes)) {
		*r = starved{}
		return 0
	}
	if r.number == 0 || planned <= r.lastPlanned || wellBelow(b.Prompt, r.mostCount) {
		*r = starved{planned: planned, counted: b.Prompt}
	}
	r.lastPlanned, r.last, r.mostCount, r.number = planned, b.Prompt, max(r.mostCount, b.Prompt), r.number+1
	longer, more := planned-r.planned, r.mostCount-r.counted
	stands := r.number >= 2 && max(before, b.Prompt)-min(before, b.Prompt) <= b.Prompt/64
	grows := 4*more*r.planned >= longer*r.counted
	if answered > r.mostCount || longer <= r.planned/100 || !stands && (r.number < 3 || grows) {
		return 0
	}
	return r.mostCount
}

// explains reports whether one of the first ways of counting says about as much: a
// template may leave out a part of the prompt.
func (s *Sent) explains(counted, ways int) bool {
	return slices.ContainsFunc(s.Sizes[:min(ways, len(s.Sizes))], func(n int) bool {
		n = n * s.Percent / 100
		return !wellBelow(counted, n) && !wellBelow(n, counted)
	})
}

// wellBelow reports whether an upstream counted so little of a prompt that no
// tokenizer explains it.
func wellBelow(counted, planned int) bool { return 4*counted < 3*planned }

// reads believes that an upstream reads so many tokens of a prompt, and drops the
// others: that is its window. It returns 0 if that is nothing new, or if the upstream
// publishes a window, which says it better.
func (m *Model) reads(now time.Time, f *Facts, tokens int) (window int) {
	if tokens < leastLimit || m.published.Window > 0 {
		return 0
	}
	if f.Window.Value != tokens {
		window = tokens
	}
	f.Window = believe(tokens, now, limitLife)
	return window
}

// Assume believes the window that an upstream has unless it is told otherwise. It
// returns 0 if one is known.
func (m *Model) Assume(tokens int) (window int) {
	m.change(func(now time.Time, f *Facts) {
		if f.Window.Value == 0 {
			window = m.reads(now, f, tokens)
		}
	})
	return window
}

// mostAbove is how many times a prompt's true cost the counter may say.
const mostAbove = 2

// disproved forgets the limits that an answer contradicts: one to a prompt of at
// least so many tokens, in a body of so many bytes.
func (f *Facts) disproved(now time.Time, prompt, bytes int) {
	if f.Window.Value > 0 && prompt > f.Window.Value {
		f.Window.forget(now, limitLife)
	}
	if f.Input.Value > 0 && prompt > f.Input.Value {
		f.Input.forget(now, limitLife)
	}
	if f.Bytes.Value > 0 && bytes > f.Bytes.Value {
		f.Bytes.forget(now, limitLife)
	}
}

// leastAsked is the shortest answer, in tokens, of which it shows something that it
// is empty: some clients ask for none, to have a prompt in the cache.
const leastAsked = 16

// windowStep is what windows that people choose are multiples of, in tokens.
const windowStep = 1024

// fillsWindow reports whether an upstream read no more of a prompt than had room,
// and said nothing: it counted less than the counter did, and just what its
// window holds, or so much that nothing was left for an answer.
func (s *Sent) fillsWindow(b Bill, f *Facts) bool {
	planned := s.Planned()
	if planned < leastCounted || b.Prompt >= planned {
		return false
	}
	if b.NoRoom || b.Completion == 0 && b.Prompt%windowStep == 0 && b.Prompt*(100+percentSlack) < 100*planned {
		return true
	}
	w := f.limits(s.Limits).Window
	return w > 0 && planned > w && b.Prompt <= w && b.Prompt >= w-w/100
}

// witness reports whether what an upstream counted says anything of the counter.
func (s *Sent) witness() bool { return !s.OwnCounter && s.Media*mostMedia <= s.Sizes[0] }

// calibrate changes the way of counting and its factor by what an upstream
// counted, which add adds. The locks are held.
func (m *Model) calibrate(now time.Time, f *Facts, s *Sent, add func(Calibration)) {
	if m.memory.o.Calibrate == nil {
		return
	}
	if s.Agent != nil {
		m = s.Agent
	}
	if m.count == nil {
		way, percent := slices.Index(s.Ways, f.Count.Value.Way), f.Count.Value.Percent
		if way < 0 {
			way, percent = 0, 0
		}
		m.count = m.memory.o.Calibrate(s.Plain, way, percent)
	}
	if add(m.count); !m.count.Measured() {
		return
	}
	way := min(max(m.count.Way(), 0), len(s.Ways)-1)
	count := Count{s.Ways[way], min(max(m.count.Percent(), leastPercent), mostPercent)}
	if s.Exact && count.Percent == 100 {
		count = Count{}
	}
	if count != f.Count.Value || count != (Count{}) && f.Count.aged(now) {
		f.Count = believe(count, now, factLife)
	}
}
