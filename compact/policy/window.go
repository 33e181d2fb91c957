package policy

import "laconic/compact"

// window is TruncateStrategy of ailoop: at the budget, at four bytes to the token,
// the list is cut to its last messages and back to a user message, so that no pair is
// cut in two and the model starts with a question. Pins before the cut stay in their
// place. If no user message precedes the last messages, nothing leaves and the request
// is over.
type window struct {
	Keep int `json:"keep" min:"1" unit:"messages" says:"the last messages stay, and what stands before them back to a user message"`
}

func (o window) policy() *compact.Policy {
	return &compact.Policy{
		Trigger: 1, PerRequest: &compact.PerRequest{Inclusive: true, FullLadder: true},
		Counter:    compact.Estimator{PerToken: 4},
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder: []compact.Stage{rung{"truncate", func(d *compact.Draft) {
			cut := max(0, d.Messages()-o.Keep)
			for cut > 0 && d.Message(cut).Role != compact.User {
				cut--
			}
			dropBefore(d, cut, "before the window", never)
		}}},
	}
}
