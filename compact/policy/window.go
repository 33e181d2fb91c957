package policy

import "laconic/compact"

// window is TruncateStrategy of ailoop: see [Window].
type window struct {
	Keep int `json:"keep" min:"1" unit:"messages" says:"the last messages stay, and what stands before them back to a user message"`
}

// DefaultWindow is how many messages the window policy keeps by default.
const DefaultWindow = 4

// Window returns the window policy: at the budget, at four bytes to the token,
// the list is cut to its last keep messages and back to a user message, so that
// no pair is cut in two and the model starts with a question. Pins before the
// cut stay in their place. If no user message precedes the last messages,
// nothing leaves and the request is over.
func Window(keep int) *compact.Policy {
	return &compact.Policy{
		Name: "window", Trigger: 1, PerRequest: &compact.PerRequest{Inclusive: true, FullLadder: true},
		Counter:    compact.Estimator{PerToken: 4},
		KeepRecent: compact.KeepRecent{Messages: keep},
		Ladder: []compact.Stage{rung{"truncate", func(d *compact.Draft) {
			cut := max(0, d.Messages()-keep)
			for cut > 0 && d.Message(cut).Role != compact.User {
				cut--
			}
			dropBefore(d, cut, "before the window", never)
		}}},
	}
}
