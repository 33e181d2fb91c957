package policy

import (
	"laconic/compact"
	"laconic/compact/digest"
	"laconic/compact/stage"
)

// summaryPolicy is NeoGraph's compact_history: above its limit everything
// between the instructions and the last messages leaves for one summary, which
// stands as a system message behind the instructions. Where no summary exists a
// digest of the span stands there; the original drops it without a word. It is
// one cut: what is left is not measured again.
type summaryPolicy struct {
	Start     int `json:"start" check:"min=0" unit:"tokens" says:"compaction starts above this; 0, or more than the budget: above the budget"`
	Keep      int `json:"keep" check:"min=1" unit:"messages" says:"the last messages stay, with no pair cut in two"`
	MaxTokens int `json:"max_tokens" check:"min=64" unit:"tokens" says:"the size of the summary at most"`
}

// leastSummaryTokens: a summary of fewer tokens says nothing.
const leastSummaryTokens = 64

var summaryDefaults = summaryPolicy{Start: 12_000, Keep: 6, MaxTokens: 500}

func newSummaryPolicy(raw []byte) (*compact.Policy, error) {
	o := summaryDefaults
	if err := stage.ReadOptions("summary", &o, raw); err != nil {
		return nil, err
	}
	c := compact.Estimator{PerToken: 3}
	return &compact.Policy{
		Name: "summary", Once: true, Trigger: 1, Start: o.Start, Land: landNowhere,
		Counter: c, Placement: compact.PlaceSystem,
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder: []compact.Stage{&spanSummary{
			name: "summarize", label: "Previous conversation summary:", keep: o.Keep, size: o.MaxTokens, counter: c,
		}},
	}, nil
}

// spanSummary removes all exchanges before the last messages and leaves a slot
// for a summary of them.
type spanSummary struct {
	name       string
	label      string // what the original writes above a summary
	keep, size int
	counter    compact.Counter
	// needed tells whether the span has to leave; nil: always.
	needed func(*compact.Draft) bool
}

func (s *spanSummary) Name() string { return s.name }

func (s *spanSummary) Shrink(d *compact.Draft) {
	if s.needed != nil && !s.needed(d) {
		return
	}
	left, recent := 0, lastFrom(d, s.keep)
	for i := 0; i < recent; {
		start, end := d.Exchange(i)
		if cost := costOf(d, s.counter, start, end); d.Leave(start, "before the last messages") {
			left += cost
		}
		i = end
	}
	// A summary takes at most three quarters of what left for it.
	if size := min(s.size, left*3/4); size >= leastSummaryTokens {
		d.Fill(s, size, s.label)
	}
}

// Digest is that of the adaptive policy.
func (s *spanSummary) Digest(lost, kept []compact.Message, size int, c compact.Counter) string {
	return digest.Of(lost, kept, size, c)
}
