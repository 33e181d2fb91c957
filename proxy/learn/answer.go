package learn

import (
	"slices"
	"time"
)

// Bill is what an answer says of its prompt, in tokens.
type Bill struct {
	// Prompt is 0 where the answer does not say.
	Prompt, Completion, Cached int
	// NoRoom: the answer ended for its length before any output.
	NoRoom bool
}

// Answered learns from an answer: from its bill, and from the length that was
// accepted. cut reports whether the upstream dropped a part of the prompt.
func (m *Model) Answered(s Sent, b Bill) (cut bool) {
	m.change(func(now time.Time, f *Facts) {
		prompt := s.Planned()
		sure := prompt / mostAbove
		if b.Prompt > 0 {
			prompt, sure = b.Prompt, b.Prompt
			if cut = s.fillsWindow(b, f); !cut && s.witness() && b.Cached <= b.Prompt {
				m.calibrate(now, f, &s, func(c Calibration) { cut = c.Answered(s.Sizes, s.Percent, b.Prompt) })
			}
		}
		if cut {
			return // what was left of the prompt says nothing of what would be taken
		}
		f.disproved(now, sure, s.Bytes)
		m.answered = max(m.answered, prompt)
		if prompt >= m.refused {
			m.refused = 0
		}
	})
	return cut
}

// mostAbove is how many times a prompt's true cost the counter may say.
const mostAbove = 2

// disproved forgets the limits that an answer contradicts: one to a prompt of at
// least so many tokens, in a body of so many bytes.
func (f *Facts) disproved(now time.Time, prompt, bytes int) {
	if f.Window.Value > 0 && prompt >= f.Window.Value {
		f.Window.forget(now, limitLife)
	}
	if f.Input.Value > 0 && prompt > f.Input.Value {
		f.Input.forget(now, limitLife)
	}
	if f.Bytes.Value > 0 && bytes > f.Bytes.Value {
		f.Bytes.forget(now, limitLife)
	}
}

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
	if b.NoRoom || b.Completion == 0 && b.Prompt%windowStep == 0 {
		return true
	}
	w := f.limits(s.Limits).Window
	return w > 0 && planned > w && b.Prompt <= w && b.Prompt >= w-w/100
}

// witness reports whether what an upstream counted says anything of the counter.
func (s *Sent) witness() bool { return !s.OwnCounter && s.Media*mostMedia <= s.Sizes[0] }

// calibrate changes the way of counting and its factor by what an upstream
// counted, which add adds. The lock is held.
func (m *Model) calibrate(now time.Time, f *Facts, s *Sent, add func(Calibration)) {
	if m.memory.o.Calibrate == nil {
		return
	}
	if m.count == nil {
		way, percent := slices.Index(s.Ways, f.Count.Value.Way), f.Count.Value.Percent
		if way < 0 {
			way, percent = 0, 0
		}
		m.count = m.memory.o.Calibrate(way, percent)
	}
	if add(m.count); !m.count.Measured() {
		return
	}
	way := min(max(m.count.Way(), 0), len(s.Ways)-1)
	count := Count{s.Ways[way], min(max(m.count.Percent(), leastPercent), mostPercent)}
	if s.Exact && count.Percent == 100 {
		count = Count{}
	}
	// Not at every answer: it is stored.
	if count != f.Count.Value || count != (Count{}) && f.Count.Until.Before(now.Add(countLife-time.Hour)) {
		f.Count = believe(count, now, countLife)
	}
}
