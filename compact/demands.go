package compact

import "strings"

// Demands is what the chat template behind an upstream asks of a list beyond what
// all upstreams agree on, as a set. A template is code of the model, so what it
// asks is known once it has refused something. 0: nothing.
type Demands uint8

// The demands, in the order in which a list is rewritten for them.
const (
	OneSystem   Demands = 1 << iota // one system message, at the beginning
	NoSystem                        // no system message
	SingleCalls                     // one call in a message
	NineLetters                     // ids of nine letters and digits
	TakeTurns                       // users and assistants alternate
	NoSlot                          // no text in the place of what left
	Original                        // the client's list, repaired
)

// A demand is one row of demands.
type demand struct {
	is   Demands
	name string // for people
	// rewrite returns a list that meets the demand and says the same, or the same
	// slice where it meets it already. It is nil for a demand on the plan. What it
	// makes of the start of a list that ends at a request point begins what it makes
	// of the list.
	rewrite func(msgs []Message, note func(Edit)) []Message
	// charge returns the most that a message costs more by the rewriting.
	charge func(c Counter, m *Message) int
}

// demands are all demands. Turns are counted once nothing else changes the roles.
var demands = []demand{
	{OneSystem, "one system message", oneSystem, chargeLabel},
	{NoSystem, "no system message", noSystem, chargeLabel},
	{SingleCalls, "single calls", singleCalls, chargeCalls},
	{NineLetters, "ids of nine letters", nineLetters, chargeIDs},
	{TakeTurns, "alternating roles", takeTurns, chargeTurn},
	{is: NoSlot, name: "no slot"},
	{is: Original, name: "original"},
}

// String names the demands.
func (d Demands) String() string {
	var names []string
	for i := range demands {
		if d.Has(demands[i].is) {
			names = append(names, demands[i].name)
		}
	}
	if len(names) == 0 {
		return "full"
	}
	return strings.Join(names, ", ")
}

// Has reports whether a demand is in the set.
func (d Demands) Has(one Demands) bool { return d&one != 0 }

// Rewrite returns a list that meets the demands and says the same, and the edits
// that made it so. It returns a list that meets them as the same slice, and never
// changes msgs. It expects a list whose pairs are legal.
func (d Demands) Rewrite(msgs []Message) (out []Message, edits []Edit) {
	note := func(e Edit) {
		e.Stage = repairStage
		edits = append(edits, e)
	}
	for i := range demands {
		if row := &demands[i]; d.Has(row.is) && row.rewrite != nil {
			msgs = row.rewrite(msgs, note)
		}
	}
	return msgs, edits
}

// rewrites reports whether a demand is on the list.
func (d Demands) rewrites() bool { return d&^(NoSlot|Original) != 0 }

// policy returns p with what the demands change of the plan.
func (d Demands) policy(p *Policy) *Policy {
	with := *p
	if d.Has(OneSystem|NoSystem) && p.Placement == PlaceSystem {
		with.Placement = PlaceAuto
	}
	if d.Has(NoSlot) {
		with.Placement = PlaceNone
	}
	if d.Has(Original) {
		with.Ladder = nil
	}
	return &with
}

// Counter returns a counter that charges each message what the rewriting may add
// to it, so that what fits still fits once it is rewritten.
func (d Demands) Counter(c Counter) Counter {
	if !d.rewrites() {
		return c
	}
	return charging{c, d}
}

// charging is a counter that charges for demands.
type charging struct {
	Counter
	demands Demands
}

// Envelope implements [Counter].
func (c charging) Envelope(m *Message) int { return c.Counter.Envelope(m) + c.more(m) }

// Message implements [Rememberer].
func (c charging) Message(m *Message) int { return Cost(c.Counter, m) + c.more(m) }

func (c charging) more(m *Message) (n int) {
	for i := range demands {
		if row := &demands[i]; c.demands.Has(row.is) && row.charge != nil {
			n += row.charge(c.Counter, m)
		}
	}
	return n
}
