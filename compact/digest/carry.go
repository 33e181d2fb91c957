package digest

import "slices"

// A carried piece had no room in the part of its event, and may have some in a later
// part.
type carried struct {
	piece
	of *event
}

// carry returns the pieces of files that had no room, the worthiest as far as twice the
// room goes, each behind the piece that it needs. A need is an index of the list.
func (p *part) carry(order []int32) (list []carried) {
	index := map[int32]int32{}
	var add func(i int32) int32
	add = func(i int32) int32 {
		if i < 0 {
			return i
		}
		if k, ok := index[i]; ok {
			return k
		}
		q := p.pieces[i]
		q.score, q.over = q.full(), false
		q.need = add(q.need)
		index[i] = int32(len(list))
		list = append(list, carried{q, p.events[q.event]})
		return index[i]
	}
	room := 2 * p.room // in bytes
	for _, i := range order {
		q := &p.pieces[i]
		e := p.at(q.event)
		if q.on || q.under >= 0 || q.full() < leastRead || e == nil || e.by != byCall || e.kind != reads || e.path == "" || q.class != sources && q.class != rules {
			continue
		}
		if room -= int(q.cost); room >= 0 {
			add(i)
		}
	}
	return list
}

// older adds the carried pieces before the events of the part. Of a file that was
// changed after it was read nothing is told any more.
func (p *part) older() {
	at := map[*event]int32{}
	var events []*event
	for _, c := range p.carried {
		if _, ok := at[c.of]; !ok {
			at[c.of] = 0
			events = append(events, c.of)
		}
	}
	slices.SortStableFunc(events, func(a, b *event) int { return a.origin - b.origin })
	for i, e := range events {
		at[e] = int32(i)
	}
	p.events, p.old = append(events, p.events...), len(events)
	for _, c := range p.carried {
		q := c.piece
		q.event, q.on = at[c.of], false
		q.score *= worthLater
		if f := p.files.after(c.of.path, c.of); q.class == steps || f != nil && (q.class != rules || f.path != everyFile) {
			q.score = -1 // it comes with others alone
		}
		p.pieces = append(p.pieces, q)
	}
}

// worthLater is the share of its worth that a piece has in the next part.
const worthLater = 0.6
