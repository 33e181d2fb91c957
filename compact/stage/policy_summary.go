package stage

import (
	"errors"

	"laconic/compact"
)

// summaryPolicy is NeoGraph's compact_history: above its limit everything
// between the instructions and the last messages leaves for one summary, which
// stands as a system message behind the instructions. Where no summary exists
// the span is dropped and nothing stands for it. It is one cut: what is left is
// not measured again.
type summaryPolicy struct {
	// Start is the limit in tokens; 0, or more than the budget: the budget.
	Start int `json:"start"`
	Keep  int `json:"keep"` // the last messages, with no pair cut in two
	// MaxTokens is the size of the summary at most.
	MaxTokens int `json:"max_tokens"`
}

func (o *summaryPolicy) check() error {
	if o.Start < 0 {
		return errors.New("start cannot be negative")
	}
	if o.MaxTokens < leastSummaryTokens {
		return errors.New("max_tokens must be at least 64")
	}
	return keepAtLeast(1, o.Keep)
}

// leastSummaryTokens: a summary of fewer tokens says nothing.
const leastSummaryTokens = 64

func newSummaryPolicy(raw []byte) (*compact.Policy, error) {
	o := summaryPolicy{Start: 12_000, Keep: 6, MaxTokens: 500}
	if err := policyOptions("summary", &o, raw); err != nil {
		return nil, err
	}
	c := compact.Estimator{PerToken: 3}
	return &compact.Policy{
		Name: "summary", Once: true, Trigger: 1, Start: o.Start, Land: landNowhere,
		Counter: c, Placement: compact.PlaceSystem,
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder:     []compact.Stage{&spanSummary{name: "summarize", keep: o.Keep, size: o.MaxTokens, counter: c}},
	}, nil
}

// spanSummary removes all exchanges before the last messages and leaves a slot
// for a summary of them. It writes no text itself.
type spanSummary struct {
	name       string
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
		d.Fill(s, size)
	}
}

// Digest is empty: without a summary the span is dropped.
func (s *spanSummary) Digest(_, _ []compact.Message, _ int, _ compact.Counter) string { return "" }
