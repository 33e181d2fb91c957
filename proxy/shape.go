package proxy

import (
	"laconic/compact"
	"laconic/proxy/learn"
)

// shaped returns the policy that makes plans of a shape.
func shaped(p *compact.Policy, s learn.Shape) *compact.Policy {
	with := *p
	switch s {
	case learn.ShapeFull:
		return p
	case learn.ShapeNoSlot:
		with.Placement = compact.PlaceNone
	default:
		with.Ladder = nil
	}
	return &with
}
