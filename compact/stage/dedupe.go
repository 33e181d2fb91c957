package stage

import (
	"laconic/compact"
	"laconic/compact/digest"
)

// dedupe removes what a later message says again. A file that was read again,
// a command that was run again, a state that was asked for again: the newest
// result is the one to act on, and an older one that contradicts it misleads;
// unless the newest is a failure, or a word that nothing changed.
// It is the least harmful stage: what it takes away still stands below.
//
// Clients that send their instructions anew each turn leave copies of them all
// over the list; of identical ones in mid-list the newest stays.
type dedupe struct {
	// MinTokens: results that cost less stay as they are. An edit breaks the
	// prompt cache from there on, so it has to be worth it.
	MinTokens int `json:"min_tokens" check:"min=0"`
}

func newDedupe(raw []byte) (compact.Stage, error) { return options(&dedupe{MinTokens: 100}, raw) }

func (s *dedupe) Name() string { return "dedupe" }

func (s *dedupe) Shrink(d *compact.Draft) {
	for _, ref := range d.Superseded(supersedes) {
		if d.Over() == 0 {
			break
		}
		if d.Cost(ref) >= s.MinTokens && !isElided(d.Text(ref).String()) {
			d.Rewrite(ref, superseded, "a later result supersedes it")
		}
	}
	if d.Over() > 0 || d.OverMessages() > 0 {
		d.DropRepeated("a later message repeats it")
	}
}

// supersedes tells whether a newer result of the same call can stand for an
// older one. One that failed where the older did not, or that is much shorter
// ("unchanged since it was read last", "timed out"), leaves the older as the
// only good copy.
func supersedes(older, newer compact.Text) bool {
	if newer.Len() < older.Len()/2 {
		return false
	}
	return !digest.ReportsFailure(newer.String()) || digest.ReportsFailure(older.String())
}
