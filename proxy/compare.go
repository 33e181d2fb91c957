package proxy

import (
	"net/http"
	"time"

	"laconic/proxy/wire"
)

// compare holds an answer against what the proxy knows and counted, and learns
// from the difference. What was counted is the body that was sent.
func (t *trip) compare() {
	u := t.info.Usage
	counted := u != nil && u.Prompt > 0
	if t.lesson == nil || t.sending.percent == 0 || t.w.status != http.StatusOK || !counted && !t.sending.answered {
		return
	}
	t.lesson.change(t.p, func(now time.Time, l *Learnt) {
		prompt := t.expected()
		if counted {
			if t.info.Cut = t.fillsWindow(u, l); !t.info.Cut && t.witness(u) {
				t.corrected(now, l, t.sending.sizes, func(c Calibration) {
					t.info.Cut = c.Answered(t.sending.sizes.all, t.sending.percent, u.Prompt)
				})
			}
			prompt = u.Prompt
		}
		if t.info.Cut {
			return // what was left of the prompt says nothing of what would be taken
		}
		l.disproved(prompt, t.by(t.sending.sizes, l), t.sending.bytes, counted)
		l.took(now, prompt, t.sending.bytes)
	})
}

// mostAbove is how many times a prompt's true cost the counter may say.
const mostAbove = 2

// disproved forgets the limits that an answer contradicts: one to more than a
// limit allows says that it is none.
func (l *Learnt) disproved(prompt, estimate, bytes int, counted bool) {
	sure := prompt // what it cost at least
	if !counted {
		sure /= mostAbove
	}
	if l.Window > 0 && sure >= l.Window {
		l.Window = 0
	}
	if l.Input > 0 && sure > l.Input {
		l.Input = 0
	}
	if prompt >= l.Doubt {
		l.Doubt = 0
	}
	if bytes > l.Bytes {
		l.Bytes = 0
	}
	if estimate > l.Cap {
		l.Cap = 0
	}
	if estimate >= l.Tight {
		l.Tight = 0
	}
}

// fillsWindow tells whether an upstream read no more of a prompt than had room,
// and said nothing: it counted less than the counter did, and just what its
// window holds, or so much that nothing was left for an answer.
func (t *trip) fillsWindow(u *wire.Usage, l *Learnt) bool {
	estimate := t.expected()
	if estimate < leastCounted || u.Prompt >= estimate {
		return false
	}
	if t.info.Ended == wire.BeforeOutput || u.Completion == 0 && u.Prompt%windowStep == 0 {
		return true
	}
	w := l.limits(t.limits(), 0).Window
	return w > 0 && estimate > w && u.Prompt <= w && u.Prompt >= w-w/100
}

// windowStep is what windows that people choose are multiples of, in tokens.
const windowStep = 1024
