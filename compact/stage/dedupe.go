package stage

import (
	"laconic/compact"
	"laconic/compact/agent"
)

// dedupe removes what a later message says again. If a file was read again or a
// command run again, the newest result is the one to act on, and an older one
// that contradicts it misleads; unless the newest is a failure, or says only that
// nothing changed.
//
// Clients that send their instructions anew each turn leave copies all over the
// list. Of identical instructions in mid-list the newest stays.
type dedupe struct {
	// MinTokens is the cost below which a result stays as it is. An edit breaks
	// the prompt cache from there on, so it has to save enough.
	MinTokens int `json:"min_tokens" min:"0"`
}

func (s *dedupe) Name() string { return "dedupe" }

func (s *dedupe) Shrink(d *compact.Draft) {
	for _, ref := range d.Superseded(supersedes) {
		if d.Over() == 0 {
			break
		}
		if d.Cost(ref) >= s.MinTokens && !isElided(d.Part(ref).Text.String()) {
			d.Rewrite(ref, superseded, "a later result supersedes it")
		}
	}
	if d.Over() > 0 || d.OverMessages() > 0 {
		d.DropRepeated("a later message repeats it")
	}
}

// supersedes reports whether a newer result of the same call can replace an
// older one. If the newer failed and the older did not, or if the newer is much
// shorter ("unchanged since it was read last", "timed out"), the older is the
// only good copy.
func supersedes(older, newer compact.Text) bool {
	return newer.Len() >= older.Len()/2 && (!agent.ReportsFailure(newer.String()) || agent.ReportsFailure(older.String()))
}
