package digest

import (
	"math"
	"slices"
	"strings"
)

// byWorth orders pieces by what they are worth for their length.
func byWorth(a, b *piece) int {
	switch x, y := a.worth(), b.worth(); {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return 0
}

func (q *piece) worth() float32 { return q.score / float32(math.Sqrt(float64(q.cost)+25)) }

// fit chooses pieces and returns them as a text that costs at most the size.
// Costs are known of whole texts only, so the room in bytes is a guess that is
// put right.
func (p *part) fit() string {
	order := make([]int32, 0, len(p.pieces))
	for i := range p.pieces {
		order = append(order, int32(i))
	}
	slices.SortStableFunc(order, func(a, b int32) int { return byWorth(&p.pieces[a], &p.pieces[b]) })
	order = p.likely(order)
	told := p.told
	best := ""
	room, low, high := p.room, 0, 0
	for range mostTries {
		p.told = make(map[uint64]bool, len(told)+256)
		for h := range told {
			p.told[h] = true
		}
		for i := range p.pieces {
			p.pieces[i].on = false
		}
		p.choose(order, room)
		text := p.text()
		cost := p.cost(text)
		if text == "" {
			cost = 0
		}
		if cost <= p.size && len(text) >= len(best) {
			best = text
			if low = room; cost*20 >= p.size*19 || p.all(order) {
				break
			}
		}
		if cost > p.size {
			high = room
			if best != "" && low*50 > high*48 {
				break
			}
		}
		next := room * 2
		if cost > 0 {
			next = room * p.size / cost * 98 / 100
		}
		if high > 0 && (next >= high || next <= low) {
			next = (low + high) / 2
		}
		if next == room || next < 16 {
			break
		}
		room = next
	}
	p.told = told
	for l := range strings.SplitSeq(best, "\n") {
		p.tell(code, l)
		p.tell(prose, l)
	}
	return best
}

// likely returns the pieces that may be chosen: of each class the worthiest, a
// few times as many as have room.
func (p *part) likely(order []int32) []int32 {
	var sums [classes]int
	return slices.DeleteFunc(order, func(i int32) bool {
		q := &p.pieces[i]
		if q.score < 0 {
			return true // it comes with others alone
		}
		sums[q.class] += int(q.cost)
		return sums[q.class] > timesRoom*p.room
	})
}

const timesRoom = 3

// mostTries bounds how often a part is chosen anew until it fits.
const mostTries = 8

// all reports whether nothing is left to choose.
func (p *part) all(order []int32) bool {
	return !slices.ContainsFunc(order, func(i int32) bool { return !p.pieces[i].on && !p.known(p.pieces[i].class, p.pieces[i].text) })
}

// choose chooses pieces for a room in bytes, the worthiest first.
func (p *part) choose(order []int32, room int) {
	var used [classes]int
	large := room / 2 // a piece that must not go beyond the room of its class
	take := func(i int32, most int) {
		q := &p.pieces[i]
		if q.on {
			return
		}
		cost := 0
		for k := i; k >= 0 && !p.pieces[k].on; k = p.pieces[k].need {
			cost += int(p.pieces[k].cost)
		}
		if cost > room || used[q.class] >= most || used[q.class]+cost > most && cost > large {
			return
		}
		if q.class != steps && q.class != userWords && !q.whole && p.known(q.class, q.text) {
			return
		}
		for k := i; k >= 0 && !p.pieces[k].on; k = p.pieces[k].need {
			n := &p.pieces[k]
			n.on = true
			p.tell(n.class, n.text)
		}
		used[q.class] += cost
		room -= cost
	}
	whole := float32(room)
	for _, pass := range passes {
		for _, i := range order {
			q := &p.pieces[i]
			if room < 16 {
				return
			}
			if q.score < pass.least || pass.floor && q.class == code && q.score < floorScore {
				continue
			}
			most := int(whole)
			switch {
			case pass.floor:
				most = int(whole * floors[q.class])
			case pass.times > 0:
				most = int(whole * mosts[q.class] * pass.times)
			}
			take(i, most)
		}
	}
}

var passes = []struct {
	floor bool
	times float32 // of the most
	least float32 // score
}{
	{floor: true, least: leastScore},
	{times: 1, least: leastScore},
	{least: 1.0},
}
