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
			most, stands := m.stands(&s, b, f.Count.Value.Percent != 0)
			doubtful = stands || s.starved(b)
			switch {
			case s.fillsWindow(b, f) || m.fullAgain(&s, b):
				if cut = true; s.Asked == 0 || s.Asked >= leastAsked {
					reads = b.Prompt
				}
			case most > 0:
				cut, reads = true, most
			case !stands && b.Prompt != m.full.counted && s.witness() && b.Cached <= b.Prompt && !(s.MayCut && wellBelow(b.Prompt, s.Size(s.Way))):
				m.calibrate(now, f, &s, func(c Calibration) { cut = c.Answered(s.Sizes, s.Percent, b.Prompt) })
			}
		}
		if cut {
			window = m.reads(now, f, reads)
			return // what was left of the prompt says nothing of what would be taken
		}
		f.disproved(now, sure, s.Bytes)
		w := s.Limits.Window
		if larger := f.Larger.Value || !s.Stated && w > 0 && w < min(b.Prompt, compact.DefaultWindow); larger && f.Larger.aged(now) {
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
	return cut, window, s.Stated && (cut || doubtful)
}

// starved reports whether an upstream counted far less than was sent.
func (s *Sent) starved(b Bill) bool {
	planned := s.Planned()
	return planned >= leastCounted && s.witness() && b.Cached == 0 && wellBelow(b.Prompt, planned)
}

// wellBelow reports whether an upstream counted so little of a prompt that no
// tokenizer explains it.
func wellBelow(counted, planned int) bool { return 4*counted < 3*planned }

// reads believes that an upstream reads so many tokens of a prompt, and drops the
// others: that is its window. It returns 0 if that is nothing new, or if the upstream
// publishes a window, which says it better.
func (m *Model) reads(now time.Time, f *Facts, tokens int) (window int) {
	if compact.Credible(tokens) == 0 || m.published.Window > 0 {
		return 0
	}
	if f.Window.Value != tokens {
		window = tokens
	}
	f.Window, m.assumed = believe(tokens, now, limitLife), tokens
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
	for limit, n := range map[*Fact[int]]int{&f.Window: prompt, &f.Input: prompt, &f.Bytes: bytes} {
		if limit.Value > 0 && n > limit.Value {
			*limit = believe(0, now, limitLife)
		}
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
	w := f.limits(s.Limits).Window
	return b.NoRoom || w > 0 && planned > w && b.Prompt <= w && b.Prompt >= w-w/100
}

// fullAgain reports whether an answer is the second that is empty and counts less than
// the counter did, and the same round number, of a prompt of another length. The first
// may be to a prompt of that length, which was refused for what it says.
func (m *Model) fullAgain(s *Sent, b Bill) bool {
	if planned := s.Planned(); b.Completion > 0 || b.Prompt%windowStep > 0 || planned < leastCounted || b.Prompt*(100+percentSlack) >= 100*planned {
		return false
	}
	if m.full.counted != b.Prompt {
		m.full = prompt{counted: b.Prompt, sizes: s.Sizes}
	}
	return max(m.full.sizes[0]-s.Sizes[0], s.Sizes[0]-m.full.sizes[0]) >= leastGrowth
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
	if m.count == nil || !slices.Equal(m.ways, s.Ways) {
		way := max(0, slices.Index(s.Ways, f.Count.Value.Way)) // one of them, or no count is known
		m.count, m.ways = m.memory.o.Calibrate(s.Plain, way, f.Count.Value.Percent), s.Ways
	}
	add(m.count)
	way, percent, measured := m.count.Count()
	if !measured {
		return
	}
	count := Count{s.Ways[min(way, len(s.Ways)-1)], percent}
	if s.Exact && count.Percent == 100 {
		count = Count{}
	}
	if count != f.Count.Value || count != (Count{}) && f.Count.aged(now) {
		f.Count = believe(count, now, factLife)
	}
}
