package proxy

import (
	"net/http"
	"time"
)

// compare holds the usage of an answer against what the proxy counted, and
// learns from the difference. A plan with a slot says nothing: it charges the
// slot more than its text costs.
func (t *trip) compare() {
	u := t.info.Usage
	if u == nil || u.Prompt <= 0 || t.lesson == nil || t.sending.percent == 0 || t.w.status != http.StatusOK {
		return
	}
	estimate, slotted := t.estimate(), t.sending.slotted
	t.lesson.change(t.p, func(now time.Time, l *Learnt) {
		// An answer to more than a limit allows says that the limit is none.
		if l.Window > 0 && u.Prompt >= l.Window {
			l.Window = 0
		}
		if l.Input > 0 && u.Prompt > l.Input {
			l.Input = 0
		}
		if l.Cap > 0 && estimate > l.Cap && !slotted {
			l.Cap = 0
		}
		if slotted || t.ownCounter() {
			return
		}
		t.lesson.counted(t.p, now, l, func(c Calibration) { t.info.Cut = c.Answered(estimate, u.Prompt) })
	})
}
