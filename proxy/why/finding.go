package why

// State is how bad a finding is.
type State string

const (
	Fine    State = "ok"
	Warning State = "warn"
	Failure State = "fail"
	Unknown State = "not known"
)

// Finding is one thing that was found in a set-up, and what to do about it.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	Says  string `json:"says"`
	Fix   string `json:"fix,omitempty"` // of warnings and failures
}

// Bad reports whether something is wrong.
func (f Finding) Bad() bool { return f.State == Warning || f.State == Failure }

// String returns the finding in one line.
func (f Finding) String() string {
	says := f.Says
	if f.Check != "" {
		says = f.Check + ": " + says
	}
	if f.Fix != "" {
		says += " (" + f.Fix + ")"
	}
	return says
}
