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

// StageReport is what one stage did: how many edits, how many tokens saved.
type StageReport struct {
	Name  string `json:"name"`
	Edits int    `json:"edits"`
	Saved int    `json:"saved"`
}

// Report is a plan in numbers. Costs are tokens and count the whole request,
// fixed part included.
type Report struct {
	Outcome        Outcome       `json:"outcome"`
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
}

// NotEnough tells whether the request is above its budget and its history held
// nothing that may leave or be shortened: ErrNotEnoughHistory, for programs
// that hold their history themselves.
func (r *Report) NotEnough() bool { return r.Outcome == Over && r.Epochs == 0 }
