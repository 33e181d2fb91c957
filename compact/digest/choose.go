package digest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// A piece is a few lines that are chosen together. Those of an event come in their order.
type piece struct {
	class purpose
	event int // of the part
	need  int // another piece that comes first; -1: none
	score float32
	cost  int // bytes in the record, with the indents of its lines
	text  string
	body  *body // of which it has the lines of the span; nil: the text is of its own
	span  [2]int
	on    bool
}

// purpose says what a piece is for.
type purpose uint8

const (
	userWords purpose = iota
	answers           // the assistant's to the user
	prose             // of the assistant at work
	steps             // what was done and how it ended
	rules             // and settings that were read
	code              // as it is now
	prints            // lines that programs printed
	data              // that tools returned
	findings          // of other agents
	sources           // lines of files that were read
	classes
)

// add adds a piece, and returns its index.
func (p *part) add(q piece) int {
	q.text = strings.TrimRight(q.text, "\n")
	q.cost = len(q.text) + 2 + strings.Count(q.text, "\n")
	p.pieces = append(p.pieces, q)
	return len(p.pieces) - 1
}

// byWorth returns the indices of the pieces from first on, those first that are worth most for
// their length.
func (p *part) byWorth(first int) []int {
	order, worth := make([]int, len(p.pieces)-first), make([]float32, len(p.pieces)-first)
	for i := range order {
		q := &p.pieces[first+i]
		order[i], worth[i] = first+i, q.score/float32(math.Sqrt(float64(q.cost)+25))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b-first], worth[a-first]) })
	return order
}

// fit chooses pieces and returns them as a text that costs at most the size. Costs are
// known of whole texts only, so the room in bytes is a guess that is put right. Pieces that
// are worth little are taken only where two fifths of the part would stay empty.
func (p *part) fit() (best string) {
	order, least, last := p.byWorth(0), float32(leastRead), ""
	for try, room, over := 0, p.room, false; try < mostTries; try++ {
		p.choose(order, room, least)
		text := p.text()
		cost := p.cost(text)
		if try == 0 && cost*5 < p.size*3 {
			least = leastOfAll
			continue
		}
		if cost <= p.size && len(text) >= len(best) {
			best = text
		}
		over = over || cost > p.size
		if cost <= p.size && (over || cost*20 >= p.size*19 || text == last) {
			break
		}
		last, room = text, min(room*p.size/max(cost, 1)*98/100, 2*room)
	}
	if p.told.add(best); best != "" {
		p.carried = p.carry(order)
	}
	return best
}

// choose chooses pieces for a room in bytes, the worthiest first: the users' words up to their
// floor; in a room above smallRoom all others of theirs, and what the assistant says up to its floors
// of the rest; the other classes up to their floors; then any piece. Only the last pass takes what
// repeats. Lines that were read or printed have to be worth least.
func (p *part) choose(order []int, room int, least float32) {
	for i := range p.pieces {
		p.pieces[i].on = false
	}
	told, named := maps.Clone(p.told), make([]bool, len(p.interest.list))
	var used [classes]int
	whole := float32(room)
	hasRoom := func(q *piece, of float32) bool { return used[q.class] < int(of*floors[q.class]) }
	for _, takes := range []func(q *piece) bool{
		func(q *piece) bool { return (q.class == userWords || q.score >= foremost) && hasRoom(q, whole) },
		func(q *piece) bool {
			return whole >= smallRoom && (q.class == userWords || q.class <= prose && hasRoom(q, whole-smallRoom))
		},
		func(q *piece) bool { return (whole < smallRoom || q.class > prose) && hasRoom(q, whole) },
		nil,
	} {
		for _, i := range order {
			q := &p.pieces[i]
			read := q.class == sources || q.class == prints || q.class == data
			if q.on || q.cost > room || takes != nil && !takes(q) || q.score < least && (read || q.score < leastScore) {
				continue
			}
			cost := 0 // with the pieces that it needs, as far as they are not chosen
			for k := i; k >= 0 && !p.pieces[k].on; k = p.pieces[k].need {
				cost += p.pieces[k].cost
			}
			if cost > room || takes != nil && p.repeats(q, named) || q.class != steps && q.class != userWords && p.known(q, told) {
				continue
			}
			for k := i; k >= 0 && !p.pieces[k].on; k = p.pieces[k].need {
				p.pieces[k].on = true
				told.add(p.pieces[k].text)
				for _, id := range p.pieces[k].terms() {
					named[id] = true
				}
			}
			used[q.class] += cost
			room -= cost
		}
	}
}

// terms returns the terms of a piece.
func (q *piece) terms() []int32 {
	if q.body == nil {
		return nil
	}
	lines := q.body.lines[q.span[0]:q.span[1]]
	return q.body.ids[lines[0].terms[0]:lines[len(lines)-1].terms[1]]
}

// repeats reports whether a piece speaks of little that was not named yet. Code is told for its
// text, users for their words, and what was printed for what failed.
func (p *part) repeats(q *piece, named []bool) bool {
	if q.class == userWords || q.class == code || q.class == sources || q.class == prints {
		return false
	}
	all, fresh := float32(0), float32(0)
	for _, id := range q.terms() {
		want := max(p.interest.list[id].want, met)
		if all += want; !named[id] {
			fresh += want
		}
	}
	return fresh < leastNew*all
}

// carry returns the worthiest reads of which rules had no room, oldest first, for a later part.
func (p *part) carry(order []int) (list []*event) {
	for _, i := range order {
		q, e := &p.pieces[i], p.at(p.pieces[i].event)
		if !q.on && q.class == rules && q.score >= leastRead*little && len(e.result.Text) <= carriedRoom*p.room && !slices.Contains(list, e) && len(list) < mostCarried {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *event) int { return a.origin - b.origin })
	return list
}
