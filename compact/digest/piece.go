package digest

import "strings"

// A layout says how a body is divided into pieces: their length, what each is worth beside its
// lines, by what all is multiplied, and the limit of all of them together.
type layout struct {
	most, limit  int // bytes
	base, weight float32
}

// lines adds lines of a body as pieces of a few whole lines like q, each with the line that it
// stands below: score returns what a line is worth, and what it is.
func (p *part) lines(q piece, b *body, s layout, score func(i int) (worth float32, use lineUse)) {
	most, q := min(s.most, max(leastLine, p.room/5)), q
	q.body = b
	var above []lead
	from, size, first := -1, 0, len(p.pieces)
	var scores best
	add := func(from, to int, worth float32) int {
		q := q
		if last := len(p.pieces) - 1; b.breaks(from) && to > from && ledBy(b.at(to-1)) && last >= first {
			q.need = last // the words before it
		} else if n := len(above); n > 0 {
			q.need = above[n-1].piece
		}
		q.span, q.text, q.score = [2]int{from, to}, b.quoted(from, to), worth*s.weight
		q.order += from
		return p.add(q)
	}
	flush := func(to int) {
		if from >= 0 && b.says(from, to) {
			add(from, to, max(s.base+scores.sum(), 0.02))
		}
		from, size, scores = -1, 0, best{}
	}
	for i := range b.lines {
		worth, use := score(i)
		text, level := b.at(i), b.levelOf(i)
		for len(above) > 0 && above[len(above)-1].ends(i, text, level, use) {
			flush(i)
			above = above[:len(above)-1]
		}
		row := len(above) > 0 && above[len(above)-1].use == header
		switch {
		case use == skipped, use == blank && size > most/2:
			flush(i)
		case use == blank:
		case use >= leads && !row:
			flush(i)
			above = append(above, lead{use: use, level: level, line: i, piece: add(i, i+1, worth)})
		default:
			if use == single {
				flush(i)
			}
			if from < 0 {
				from = i
			}
			scores.add(worth)
			if size += len(text) + 3; size > most || use == single || row {
				flush(i + 1)
			}
		}
	}
	flush(len(b.lines))
	p.limit(first, s.limit)
}

// A lead is a line that others stand below, until a line ends that.
type lead struct {
	use   lineUse
	level int
	line  int
	piece int
	over  bool // lines of its own level do not stand below it any more
}

// ends reports whether a line does not stand below l.
func (l *lead) ends(i int, text string, level int, use lineUse) bool {
	switch {
	case l.use == opens:
		return use == opens && level <= l.level
	case l.use == header:
		return text == ""
	case strings.TrimSpace(text) == "":
		l.over = l.over || i > l.line+1
		return false
	}
	ends := level < l.level || level == l.level && l.over
	l.over = l.over || level > l.level
	return ends
}

// lineUse says what a line is in a text.
type lineUse uint8

const (
	plainLine lineUse = iota
	blank
	single  // a line that is a piece of its own
	skipped // a line that says nothing
	leads   // to a list or a paragraph
	opens   // a section or a definition
	header  // the names of the columns of a table
)
