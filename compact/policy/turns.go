package policy

import (
	"laconic/compact"
	"laconic/compact/stage"
)

// turnsPolicy is entelix' HeadDrop: a turn is a user message, or an assistant
// message with its results; the oldest leave whole until the rest fits. Its
// budget is in characters (bytes of UTF-8, no framing), so many to the token.
// The newest turn stays also where it alone does not fit: an upstream refuses
// an empty list.
type turnsPolicy struct {
	CharsPerToken float64 `json:"chars_per_token" check:"min=1,max=8" unit:"characters" says:"what a token of the budget stands for; with 1 the budget is a number of characters"`
}

var turnsDefaults = turnsPolicy{CharsPerToken: 4}

func newTurnsPolicy(raw []byte) (*compact.Policy, error) {
	o := turnsDefaults
	if err := stage.ReadOptions("turns", &o, raw); err != nil {
		return nil, err
	}
	return &compact.Policy{
		Name: "turns", Once: true, Trigger: 1, Land: 1,
		Counter:    compact.Estimator{PerToken: o.CharsPerToken},
		KeepRecent: compact.KeepRecent{Messages: 1},
		Ladder:     []compact.Stage{headDrop{}},
	}, nil
}

// headDrop drops turns from the head of the list.
type headDrop struct{}

func (headDrop) Name() string { return "drop_turns" }

func (headDrop) Shrink(d *compact.Draft) {
	newest := newestTurn(d)
	for i := 0; i < newest && (d.Excess() > 0 || d.Crowded() > 0); {
		_, end := d.Exchange(i)
		d.Leave(i, "oldest turn")
		i = end
	}
}

// newestTurn is the start of the last exchange that is no instruction.
func newestTurn(d *compact.Draft) int {
	for i := d.Messages() - 1; i >= 0; i-- {
		if !d.Message(i).Role.Head() {
			start, _ := d.Exchange(i)
			return start
		}
	}
	return 0
}
