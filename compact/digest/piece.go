package digest

import (
	"slices"
	"strings"
)

// A piece is a few lines that are chosen together.
type piece struct {
	class purpose
	event int32 // of the part
	order int32 // within the event
	need  int32 // another piece that comes first; -1: none
	score float32
	cost  int32 // bytes
	text  string
	brief string   // what follows the text of a step if no other piece of its event is there
	lines [2]int32 // which lines of a body it has
	whole bool     // it is told although most of its lines are known
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
	findings          // of other agents
	sources           // lines of files that were read
	classes
)

// The room of a class, as a share of that of the part: first each class gets what
// it needs at least, then up to its most, then more.
var (
	floors = [classes]float32{userWords: 0.75, answers: 0.20, prose: 0.36, steps: 0.26, rules: 0.24, code: 0.34, prints: 0.12, findings: 0.10, sources: 0.10}
	mosts  = [classes]float32{userWords: 0.90, answers: 0.42, prose: 0.50, steps: 0.38, rules: 0.30, code: 0.55, prints: 0.30, findings: 0.28, sources: 0.28}
)

const maxLineChars = 400

// add adds a piece, and returns its index.
func (p *part) add(c purpose, event int, order int32, text string, score float32, need int32) int32 {
	text = strings.TrimRight(text, "\n")
	p.pieces = append(p.pieces, piece{
		class: c, event: int32(event), order: order, need: need, score: score, text: text,
		cost: int32(len(text) + 3 + 2*strings.Count(text, "\n")),
	})
	return int32(len(p.pieces) - 1)
}

// lines adds lines of a body as pieces of a few whole lines, each with its
// heading: heading returns whether a line is one for those after it.
func (p *part) lines(c purpose, event int, order int32, b *body, most int, score func(i int) (s float32, use lineUse), base, weight float32, need int32, limit int) {
	most = min(most, max(leastLine, p.room/5))
	var headings []heading
	from, size := -1, 0
	dense, densest := "", float32(0)
	var best [4]float32
	first := len(p.pieces)
	flush := func(to int) {
		if from < 0 {
			return
		}
		s := base
		for _, b := range best {
			s += b
		}
		parent := need
		if len(headings) > 0 {
			parent = headings[len(headings)-1].piece
		}
		if text := b.text[b.lines[from].from:b.lines[to-1].to]; strings.TrimSpace(text) != "" {
			k := p.add(c, event, order+b.lines[from].number, text, max(s, 0.02)*weight, parent)
			p.pieces[k].lines = [2]int32{b.lines[from].number + 1, b.lines[to-1].number + 1}
		}
		from, size, best = -1, 0, [4]float32{}
	}
	for i := range b.lines {
		text := b.at(i)
		s, use := score(i)
		switch {
		case use == skipped:
			flush(i)
			continue
		case use == blank:
			if size > most/2 {
				flush(i)
			}
			continue
		case use == opens:
			flush(i)
			indent := len(text) - len(strings.TrimLeft(text, " \t"))
			for len(headings) > 0 && headings[len(headings)-1].indent >= indent {
				headings = headings[:len(headings)-1]
			}
			headings = append(headings, heading{indent, p.add(c, event, order+b.lines[i].number, text, s*weight, need)})
			continue
		}
		if strong := s >= decides; (c == prints && most < shortOutput || c == rules) && from >= 0 && strong != (best[0] >= decides) {
			flush(i) // what decides comes without its neighbours
		}
		if from < 0 {
			from = i
		}
		if s > densest {
			dense, densest = text, s
		}
		for k := range best {
			if s > best[k] {
				s, best[k] = best[k], s
			}
		}
		if size += len(text) + 3; size > most {
			flush(i + 1)
		}
	}
	flush(len(b.lines))
	if need >= 0 && p.pieces[need].class == steps && c != code && !p.known(c, dense) {
		p.pieces[need].brief = OneLine(dense, briefChars)
		p.pieces[need].cost += int32(len(p.pieces[need].brief))
	}
	p.limit(first, limit)
}

// briefChars is how much of a result a step shows that shows nothing else of it.
const briefChars = 100

// decides is the score of a line that comes without its neighbours.
const decides = 1

// leastScore is what a piece has to be worth, and floorScore what code has to be worth
// to take the least share of its class.
const (
	leastScore = 0.12
	floorScore = 0.4
)

type heading struct {
	indent int
	piece  int32
}

// lineUse says what a line is in a text.
type lineUse uint8

const (
	plainLine lineUse = iota
	blank
	opens   // a section or a definition
	skipped // a line that says nothing
)

// limit lowers the scores of the pieces from first on that are beyond limit bytes,
// the best not counted.
func (p *part) limit(first, limit int) {
	list := p.pieces[first:]
	total := 0
	for i := range list {
		total += int(list[i].cost)
	}
	if total <= limit {
		return
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return byWorth(&list[a], &list[b]) })
	for _, i := range order {
		if limit -= int(list[i].cost); limit < 0 {
			list[i].score *= 0.25
		}
	}
}
