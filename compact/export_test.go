package compact

import "slices"

// AllDemands has every demand.
const AllDemands = Original<<1 - 1

// With returns the plan with another list.
func (p Plan) With(change func(msgs []Message)) *Plan {
	p.result = slices.Clone(p.result)
	change(p.result)
	return &p
}

// Lie returns the plan with one more edit, made without regard for what is protected.
// At is an index of a list from which nothing was removed.
func (p Plan) Lie(e Edit) *Plan {
	p.Edits = append(slices.Clone(p.Edits), e)
	if e.Op == OpRemove {
		p.result = slices.Delete(slices.Clone(p.result), e.At, e.End)
		return &p
	}
	return p.With(func(msgs []Message) {
		m := &msgs[e.At]
		m.Edited = true
		if e.Op == OpRewrite {
			m.Parts = []Part{{Text: Plain(e.Text)}}
			return
		}
		m.Calls = slices.Clone(m.Calls)
		m.Calls[e.Part].Arguments = Plain(e.Text)
	})
}
