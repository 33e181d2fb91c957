package policy

import (
	"laconic/compact"
	"laconic/compact/digest"
)

// summary is compact_history of NeoGraph: above its limit everything between
// the instructions and the last messages leaves for one summary, which becomes
// a system message after the instructions. Without a summary a digest takes its
// place, where the original writes nothing. What remains is not measured again.
type summary struct {
	Start     int `json:"start" min:"0" unit:"tokens" says:"compaction starts above this; 0, or more than the budget: above the budget"`
	Keep      int `json:"keep" min:"1" unit:"messages" says:"the last messages stay, with no pair cut in two"`
	MaxTokens int `json:"max_tokens" min:"64" unit:"tokens" says:"the size of the summary at most"`
}

// leastSummaryTokens is the size below which a summary says nothing.
const leastSummaryTokens = 64

func (o summary) policy() *compact.Policy {
	return &compact.Policy{
		Trigger: 1, PerRequest: &compact.PerRequest{Start: o.Start, FullLadder: true},
		Counter: compact.Estimator{PerToken: 3}, Placement: compact.PlaceSystem,
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder:     []compact.Stage{&summarize{name: "summarize", label: "Previous conversation summary:", keep: o.Keep, size: o.MaxTokens}},
	}
}

// summarize removes all exchanges before the last messages and leaves a slot
// for a summary of them.
type summarize struct {
	name       string
	label      string // what the original writes above a summary
	keep, size int
	above      float64 // the share of the budget above which the exchanges leave
}

func (s *summarize) Name() string { return s.name }

func (s *summarize) Shrink(d *compact.Draft) {
	if fits(d, s.above) {
		return
	}
	before, recent := d.Total(), lastFrom(d, s.keep)
	dropBefore(d, recent, "before the last messages", never)
	// A summary takes at most three quarters of what left for it.
	if size := min(s.size, (before-d.Total())*3/4); size >= leastSummaryTokens {
		d.FillSlot(s, size, s.label)
	}
}

// Record returns the record of the adaptive policy.
func (s *summarize) Record(c compact.Counter, left func() bool) compact.Recorder {
	return digest.NewRecord(c).Until(left)
}
