package proxy

import "laconic/compact"

// Shape is how much of a plan the chat template behind an upstream takes. A
// template is code of the model: what it refuses is known when it does.
type Shape int

// The shapes, in the order in which they are tried.
const (
	ShapeFull     Shape = iota // the plan as it is
	ShapeNoSlot                // no text stands for what left
	ShapeOriginal              // the client's list, repaired
)

func (s Shape) String() string { return [...]string{"full", "no slot", "original"}[s] }

// shaped is the policy that makes plans of a shape.
func shaped(p *compact.Policy, s Shape) *compact.Policy {
	if s == ShapeFull {
		return p
	}
	with := *p
	if s == ShapeNoSlot {
		with.Placement = compact.PlaceNone
	} else {
		with.Ladder = nil
	}
	return &with
}
