package policy

import "laconic/compact"

// turns is HeadDrop of entelix: a turn is a user message, or an assistant
// message with its results. The oldest turns leave whole until the rest fits.
// The budget is measured in bytes of UTF-8. The newest turn always stays,
// because an upstream refuses an empty list.
type turns struct {
	CharsPerToken float64 `json:"chars_per_token" min:"1" max:"8" unit:"characters" says:"what a token of the budget stands for; with 1 the budget is a number of characters"`
}

func (o turns) policy() *compact.Policy {
	return &compact.Policy{
		Trigger: 1, Land: 1, PerRequest: &compact.PerRequest{},
		Counter:    compact.Estimator{PerToken: o.CharsPerToken},
		KeepRecent: compact.KeepRecent{Messages: 1},
		Ladder: []compact.Stage{rung{"drop_turns", func(d *compact.Draft) {
			last := 1
			for last < d.Messages() && d.Message(d.Messages()-last).Role.Instruction() {
				last++
			}
			dropBefore(d, lastFrom(d, last), "oldest turn", func(d *compact.Draft) bool { return d.Excess() == 0 && d.OverMessages() == 0 })
		}}},
	}
}
