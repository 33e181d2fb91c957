package wire

import (
	"bytes"
	"cmp"
	"slices"
)

// splicer joins a new body out of runs of the client's and of what was made. They
// are copied at the end, when their length is known: one allocation, one copy.
type splicer struct {
	pieces []piece
	made   []byte   // bytes that the client did not send
	cuts   []splice // of the whole body
	gone   []span   // of the element that is written, in order
	local  []splice // the same, as splices
}

// piece is a run of the client's body, or of what was made.
type piece struct {
	span
	made bool
}

// splice replaces a run of the client's body by something made. An insertion
// replaces nothing.
type splice struct {
	span
	made span
}

// since is what was made since start.
func (s *splicer) since(start int) span { return span{uint32(start), uint32(len(s.made))} }

// replace puts what was made since from in the place of old.
func (s *splicer) replace(old span, from int) {
	s.cuts = append(s.cuts, splice{old, s.since(from)})
}

// insert puts what was made since from at a place.
func (s *splicer) insert(at uint32, from int) { s.replace(span{at, at}, from) }

// inOrder sorts splices by place. An insertion comes before what else is there.
func inOrder(a, b splice) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
}

// keep takes over a run of the client's bytes.
func (s *splicer) keep(start, end uint32) {
	if start == end {
		return
	}
	if n := len(s.pieces); n > 0 && !s.pieces[n-1].made && s.pieces[n-1].end == start {
		s.pieces[n-1].end = end
		return
	}
	s.pieces = append(s.pieces, piece{span: span{start, end}})
}

// add takes over a run of what was made.
func (s *splicer) add(made span) {
	if made.start < made.end {
		s.pieces = append(s.pieces, piece{span: made, made: true})
	}
}

// spliced takes over a run of the client's bytes with the cuts in it, without what
// is gone.
func (s *splicer) spliced(whole span, body []byte) {
	from, _ := slices.BinarySearchFunc(s.cuts, whole.start, func(c splice, at uint32) int { return cmp.Compare(c.start, at) })
	to := from
	for to < len(s.cuts) && s.cuts[to].end <= whole.end && s.cuts[to].start < whole.end {
		to++
	}
	cuts := s.cuts[from:to]
	if len(s.gone) > 0 {
		s.local = s.local[:0]
		gone := s.gone
		for _, c := range cuts {
			for len(gone) > 0 && gone[0].end <= c.start {
				gone = gone[1:]
			}
			if len(gone) == 0 || c.end <= gone[0].start { // a cut of what is gone goes, too
				s.local = append(s.local, c)
			}
		}
		s.remove(body)
		slices.SortStableFunc(s.local, inOrder)
		cuts = s.local
	}
	at := whole.start
	for _, c := range cuts {
		if c.start < at {
			continue // in the space that goes with what is gone
		}
		s.keep(at, c.start)
		s.add(c.made)
		at = c.end
	}
	s.keep(at, whole.end)
}

// remove takes what is gone out of its object or array, with the commas that go with
// it.
func (s *splicer) remove(body []byte) {
	var edge uint32 // up to here a removal that had no comma before it reached
	for _, g := range s.gone {
		before := bytes.TrimRight(body[:g.start], " \t\r\n")
		if c := before[len(before)-1]; c == ',' && g.start != edge {
			s.local = append(s.local, splice{span: span{uint32(len(before) - 1), g.end}})
			continue
		}
		// The first of the list: the comma behind it goes, and the space up to
		// the next.
		after := bytes.TrimLeft(body[g.end:], " \t\r\n")
		if after[0] == ',' {
			after = bytes.TrimLeft(after[1:], " \t\r\n")
			g.end = uint32(len(body) - len(after))
		}
		s.local = append(s.local, splice{span: g})
		edge = g.end
	}
}

// bytes returns the new body, in memory of alloc.
func (e *encoder) bytes() []byte {
	n := 0
	for _, p := range e.pieces {
		n += int(p.end - p.start)
	}
	alloc := e.Alloc
	if alloc == nil {
		alloc = func(n int) []byte { return make([]byte, n) }
	}
	out := alloc(n)
	at := 0
	for _, p := range e.pieces {
		from := e.Body
		if p.made {
			from = e.made
		}
		at += copy(out[at:], from[p.start:p.end])
	}
	return out
}
