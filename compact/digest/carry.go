package digest

import "slices"

// carry returns the reads of files of which the worthiest pieces had no room, for a later part.
func (p *part) carry(order []int) (list []*event) {
	in := map[*event]bool{}
	left := carriedRoom * p.room
	for _, i := range order {
		q := &p.pieces[i]
		e := p.at(q.event)
		if q.on || q.score < leastRead*beyond || q.class != sources && q.class != rules || e.path == "" {
			continue
		}
		if n := len(e.result.text); !in[e] && n <= left {
			in[e], left = true, left-n
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *event) int { return a.origin - b.origin })
	return list
}
