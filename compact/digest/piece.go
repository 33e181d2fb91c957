package digest

import "laconic/compact/agent"

// A layout says how a body is divided into pieces: their length, what each is worth beside its
// lines, by what all is multiplied, and the limit of all of them together.
type layout struct {
	most, limit  int // bytes
	base, weight float32
}

// lines adds lines of a body as pieces of a few whole lines like q, each with the line that it
// stands below: score returns what a line is worth, and what it is.
func (p *part) lines(q piece, b *body, s layout, score func(i int) (worth float32, use lineUse)) {
	most, from, size, first := min(s.most, max(agent.LeastLine, p.room/5)), 0, 0, len(p.pieces)
	above := []lead{{piece: q.need, level: -1 << 30}}
	opened, rest := false, false // a piece, by a decorator; it rests on those above it
	closed := 0                  // lines behind the last piece that it got: each copies its text
	var scores best
	flush := func(to int, base float32) {
		if size > 0 && b.says(from, to) {
			for !b.says(to-1, to) { // they stand before what follows
				to--
			}
			q := q
			q.need, q.body, q.span = above[len(above)-1].piece, b, [2]int{from, to}
			if b.breaks(from) && ledBy(b.at(to-1)) && len(p.pieces) > first {
				q.need = len(p.pieces) - 1 // the words before it
			}
			q.text, q.score = b.quoted(from, to), max(base+scores.sum(), 0.02)*s.weight
			p.add(q)
			for k := len(p.pieces) - 1; rest && k > first && p.pieces[k-1].span[1] == p.pieces[k].span[0]; k-- {
				p.pieces[k].need = k - 1
			}
			closed, rest = 0, false
		}
		size, scores = 0, best{}
	}
	for i := range b.lines {
		worth, use := score(i)
		if last := len(p.pieces) - 1; use == closes { // what is above
			if size == 0 && last >= first && p.pieces[last].span[1] == i && closed < mostClosed {
				q := &p.pieces[last]
				q.span[1], q.text = i+1, q.text+"\n"+b.at(i)
				q.cost += len(b.at(i)) + 2
				closed++
			}
			continue
		}
		for above[len(above)-1].ends(b, i, use) {
			flush(i, s.base)
			above = above[:len(above)-1]
		}
		row := above[len(above)-1].row
		if use == skipped || use >= single && !opened || use == blank && size > most/2 {
			flush(i, s.base)
		}
		opened = use == opens || opened && use == blank
		if use <= blank {
			continue
		}
		if size == 0 {
			from = i
		}
		rest = rest || use == rests
		scores.add(worth)
		size += len(b.at(i)) + 2
		switch {
		case use >= leads && !row:
			flush(i+1, 0)
			level, next := b.levelOf(i), min(i+1, len(b.lines)-1)
			if !b.says(next, next+1) {
				next = min(i+2, len(b.lines)-1)
			}
			below := b.levelOf(next)
			above = append(above, lead{row: use == header, line: i, level: min(level, below), beside: use == header || below <= level, piece: len(p.pieces) - 1})
		case use >= single && use != opens || size > most || row:
			flush(i+1, s.base)
		}
	}
	flush(len(b.lines), s.base)
	for _, i := range p.byWorth(first) {
		if s.limit -= p.pieces[i].cost; s.limit < 0 && !p.at(q.event).told { // else it had its limit there
			p.pieces[i].score *= little
		}
	}
}

// A lead is a line that others stand below: those that are further in, or those of its own
// level up to a blank line.
type lead struct {
	line   int
	level  int
	piece  int
	beside bool // those of its own level
	row    bool // each is a piece
}

// ends reports whether a line does not stand below l.
func (l *lead) ends(b *body, i int, use lineUse) bool {
	switch level := b.levelOf(i); {
	case l.row || !b.says(i, i+1):
		return l.beside && i > l.line+1 && !b.says(i, i+1)
	case l.beside && use < leads:
		return level < l.level
	default:
		return level <= l.level
	}
}

// lineUse says what a line is in a text.
type lineUse uint8

const (
	skipped lineUse = iota // a line that says nothing
	blank
	closes // a block of code
	plainLine
	rests  // on those above it, up to a blank line
	single // a line that is a piece of its own
	opens  // a decorator, which stands above what it is for
	leads  // to those below it
	header // the names of the columns of a table
)
