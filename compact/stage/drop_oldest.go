package stage

import "laconic/compact"

// dropOldest removes the oldest exchanges whole: a call leaves with its results.
// Protected messages among them stay in their place. If that is not enough, user
// messages directly before the newest one leave.
type dropOldest struct{}

func (s *dropOldest) Name() string { return "drop_oldest" }

func (s *dropOldest) Shrink(d *compact.Draft) {
	for (d.Over() > 0 || d.OverMessages() > 0) && d.DropOldest("oldest exchange") {
	}
	d.DropUserRun("a later message of the user follows")
}
