package compact

// Outcome says in one word what happened to a conversation.
type Outcome string

// The outcomes of the pure half; a larger one hides a smaller one.
const (
	Untouched Outcome = "untouched"
	Repaired  Outcome = "repaired"
	Compacted Outcome = "compacted"
	Over      Outcome = "over" // still above the budget after everything legal
)

// NoStrategy is the Strategy of a Report where no stage did anything.
const NoStrategy = "none"

// StageReport is what one stage did: how many edits, how many tokens saved.
type StageReport struct {
	Name  string `json:"name"`
	Edits int    `json:"edits"`
	Saved int    `json:"saved"`
}

// Report is a plan in numbers. Costs are tokens of the model's counter and count
// the whole request, fixed part included; only what stages saved is counted as
// the policy does, where that has a counter of its own.
type Report struct {
	Outcome Outcome `json:"outcome"`
	// Strategy is the stage that did something furthest down the ladder, or
	// NoStrategy.
	Strategy       string        `json:"strategy"`
	Before         int           `json:"before"`
	After          int           `json:"after"`
	Budget         int           `json:"budget"`
	Fixed          int           `json:"fixed"`
	MessagesBefore int           `json:"messages_before"`
	MessagesAfter  int           `json:"messages_after"`
	Epochs         int           `json:"epochs"`
	Repairs        int           `json:"repairs"`
	ResultsDropped int           `json:"results_dropped,omitempty"` // results with content that no call can own
	Stages         []StageReport `json:"stages,omitempty"`
	// NotEnough is set if the request is above its budget as the policy counts,
	// and held nothing that may leave or be shortened.
	NotEnough bool `json:"not_enough_history,omitempty"`
}

// Sent says what is sent in the end: after tokens, under the budget b. The
// outcome is Over where that is too much, and is not where it fits.
func (r *Report) Sent(after int, b Budget) {
	b = b.withDefaults()
	r.After = after
	switch {
	case after > b.most() || r.MessagesAfter > b.Messages:
		r.Outcome = Over
	case r.Outcome != Over:
	case r.Epochs > 0 || len(r.Stages) > 0:
		r.Outcome = Compacted
	case r.Repairs > 0:
		r.Outcome = Repaired
	default:
		r.Outcome = Untouched
	}
}
