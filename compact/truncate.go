package compact

// Truncate is ailoop's TruncateStrategy, and what a History does that is given
// no policy: at the budget, four bytes to the token, the list is cut to its last
// keep messages, the cut walked back to a user message, so that no pair is cut in
// two and the model starts with a question. Pins before the cut survive in their
// place. Where the walk ends at the start there is not enough history: nothing
// leaves, and the request is over.
func Truncate(keep int) *Policy {
	return &Policy{
		Name: "window", Once: true, Trigger: 1 - 1e-9, Land: 1e-12, // at the budget, not above it
		Counter:    Estimator{PerToken: 4},
		KeepRecent: KeepRecent{Messages: keep},
		Ladder:     []Stage{truncate{keep}},
	}
}

// DefaultTruncate is how many messages stay at least where nothing else is said.
const DefaultTruncate = 4

type truncate struct{ keep int }

func (truncate) Name() string { return "truncate" }

func (s truncate) Shrink(d *Draft) {
	cut := max(0, d.Messages()-s.keep)
	for cut > 0 && d.Message(cut).Role != User {
		cut--
	}
	for i := 0; i < cut; {
		_, end := d.Exchange(i)
		d.Leave(i, "before the window")
		i = end
	}
}
