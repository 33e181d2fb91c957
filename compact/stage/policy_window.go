package stage

import "laconic/compact"

// windowPolicy is ailoop's TruncateStrategy: at the budget the list is cut to
// its last messages, the cut walked back to a user message, so that no pair is
// cut in two and the model starts with a question. Pins before the cut survive
// in their place. Where the walk ends at the start there is not enough history:
// nothing leaves, and the request is over.
type windowPolicy struct {
	Keep int `json:"keep"` // the last messages that stay, at least
}

func (o *windowPolicy) check() error { return keepAtLeast(1, o.Keep) }

func newWindowPolicy(raw []byte) (*compact.Policy, error) {
	o := windowPolicy{Keep: 4}
	if err := policyOptions("window", &o, raw); err != nil {
		return nil, err
	}
	return &compact.Policy{
		Name: "window", Once: true, Trigger: atTrigger(1), Land: landNowhere,
		Counter:    compact.Estimator{PerToken: 4},
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder:     []compact.Stage{windowCut{o.Keep}},
	}, nil
}

type windowCut struct{ keep int }

func (windowCut) Name() string { return "cut_window" }

func (s windowCut) Shrink(d *compact.Draft) {
	cut := max(0, d.Messages()-s.keep)
	for cut > 0 && d.Message(cut).Role != compact.User {
		cut--
	}
	for i := 0; i < cut; {
		_, end := d.Exchange(i)
		d.Leave(i, "before the window")
		i = end
	}
}
