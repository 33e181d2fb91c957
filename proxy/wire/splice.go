package wire

import (
	"bytes"
	"cmp"
	"slices"
)

// splice replaces a run of the client's body by something made. An insertion
// replaces nothing.
type splice struct {
	extent
	made []byte
}

// replace puts something made in the place of old.
func (e *encoder) replace(old extent, made []byte) { e.cuts = append(e.cuts, splice{old, made}) }

// insert puts something made at a place.
func (e *encoder) insert(at uint32, made []byte) { e.replace(extent{at, at}, made) }

// write writes the rows, and the body around them. Neighbours keep what is between
// them. It reports whether there is a row.
func (e *encoder) write() bool {
	e.rows = slices.DeleteFunc(e.rows, func(r row) bool { return len(r.made) == 0 && (r.element < 0 || !e.lives(r.element)) })
	slices.SortStableFunc(e.rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.behind, b.behind)) })
	changes := len(e.cuts)
	for i := range e.rows {
		if n := e.rows[i].element; n >= 0 {
			e.leave(n)
		}
	}
	e.cuts = slices.Concat(e.cuts[changes:], e.cuts[:changes])
	slices.SortStableFunc(e.cuts, func(a, b splice) int { // what is inserted comes first, then what leaves
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(min(a.end-a.start, 1), min(b.end-b.start, 1)))
	})
	e.keep(0, e.elements[0].whole.start)
	for n := range e.rows {
		r, before := &e.rows[n], e.rows[max(0, n-1)].element
		switch {
		case n == 0:
		case before >= 0 && e.elements[before].in == inList && e.elements[before].next == uint32(r.element):
			e.keep(e.elements[before].whole.end, e.elements[r.element].whole.start)
		default:
			e.pieces = append(e.pieces, []byte{','})
		}
		e.pieces = append(e.pieces, r.made)
		if r.element >= 0 {
			e.spliced(e.elements[r.element].whole)
		}
		e.pieces = append(e.pieces, r.after)
	}
	e.keep(e.elements[e.top(int32(len(e.elements)-1))].whole.end, uint32(len(e.Body)))
	return len(e.rows) > 0
}

// lives reports whether something of an element is left in it.
func (e *encoder) lives(i int32) bool {
	end := int32(e.elements[i].next)
	for n := i; n < end; {
		switch {
		case n > i && e.placed[n] > 0:
			n = int32(e.elements[n].next)
		case e.live[n]:
			return true
		default:
			n++
		}
	}
	return false
}

// leave takes the elements within one that do not live there out of their object or
// array, with the commas that go with them.
func (e *encoder) leave(i int32) {
	var edge uint32 // up to here a removal that had no comma before it reached
	for n, end := i+1, int32(e.elements[i].next); n < end; n = int32(e.elements[n].next) {
		if e.placed[n] == 0 && e.lives(n) {
			e.leave(n)
			continue
		}
		g := e.elements[n].whole
		before := bytes.TrimRight(e.Body[:g.start], " \t\r\n")
		if before[len(before)-1] == ',' && g.start != edge {
			g.start = uint32(len(before) - 1)
		} else if after := trimSpace(e.Body[g.end:]); after[0] == ',' {
			// The first of the list: the comma behind it goes, and the space up to the next.
			g.end = uint32(len(e.Body) - len(trimSpace(after[1:])))
			edge = g.end
		}
		e.replace(g, nil)
	}
}

// keep takes over a run of the client's bytes.
func (e *encoder) keep(start, end uint32) { e.pieces = append(e.pieces, e.Body[start:end]) }

// spliced takes over an element with the cuts in it. The cut that takes it out of
// another element is none of them, nor are cuts within a cut.
func (e *encoder) spliced(whole extent) {
	at := whole.start
	first, _ := slices.BinarySearchFunc(e.cuts, at, func(c splice, at uint32) int { return cmp.Compare(c.start, at) })
	for _, c := range e.cuts[first:] {
		if c.start >= whole.end {
			break
		}
		if c.start < at || c.end > whole.end || c.made == nil && c.extent == whole {
			continue
		}
		e.keep(at, c.start)
		e.pieces = append(e.pieces, c.made)
		at = c.end
	}
	e.keep(at, whole.end)
}
