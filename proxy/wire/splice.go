package wire

import (
	"bytes"
	"cmp"
	"slices"
)

// splice replaces a run of the client's body by something made. An insertion
// replaces nothing.
type splice struct {
	span
	made span
}

// replace puts what was made since from in the place of old.
func (e *encoder) replace(old span, from int) {
	e.cuts = append(e.cuts, splice{old, e.since(from)})
}

// insert puts what was made since from at a place.
func (e *encoder) insert(at uint32, from int) { e.replace(span{at, at}, from) }

// remove takes members out of an object, or elements out of an array, with the
// commas that go with them. They stand in one list, in order, and no two
// lists may be mixed.
func (e *encoder) remove(list []span) {
	body := e.r.Body
	var edge uint32 // up to here a removal that had no comma before it reached
	for _, s := range list {
		before := bytes.TrimRight(body[:s.start], " \t\r\n")
		if c := before[len(before)-1]; c == ',' && s.start != edge {
			e.cuts = append(e.cuts, splice{span: span{uint32(len(before) - 1), s.end}})
			continue
		}
		// The first of the list: the comma behind it goes, and the space up to
		// the next.
		after := bytes.TrimLeft(body[s.end:], " \t\r\n")
		if after[0] == ',' {
			after = bytes.TrimLeft(after[1:], " \t\r\n")
			s.end = uint32(len(body) - len(after))
		}
		e.cuts = append(e.cuts, splice{span: s})
		edge = s.end
	}
}

// inOrder sorts splices by place; of two at one place the insertion comes
// first.
func inOrder(cuts []splice) []splice {
	slices.SortStableFunc(cuts, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	return cuts
}
