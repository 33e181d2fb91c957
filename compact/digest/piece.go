package digest

import "strings"

const maxLineChars = 400

// lines adds lines of a body as pieces of a few whole lines, each with its
// heading: score returns what a line is worth, and what it is.
func (p *part) lines(c purpose, event int, order int32, b *body, most int, score func(i int) (s float32, use lineUse), base, weight float32, need int32, limit int) {
	most = min(most, max(leastLine, p.room/5))
	var headings []headed
	from, size := -1, 0
	var scores best
	first := len(p.pieces)
	heads := map[string]bool{} // the headings of tables
	if e := p.at(int32(event)); e != nil {
		for _, t := range e.result.tables {
			heading, _, _ := strings.Cut(t.text, "\n")
			heads[heading] = true
		}
	}
	rows := int32(-1) // the heading of the rows
	add := func(from, to int, score float32) int32 {
		over := need
		switch n := len(headings); {
		case rows >= 0:
			over = rows
		case b.above != nil && b.above[from] >= 0:
			if k := b.leads[b.above[from]]; k >= 0 {
				over = k
			}
		case b.above == nil && n > 0:
			over = headings[n-1].piece
		}
		k := p.add(c, event, order+b.lines[from].number, b.quoted(from, to), score, over)
		q := &p.pieces[k]
		q.body, q.span, q.lines = b, [2]int{from, to}, [2]int32{b.lines[from].number + 1, b.lines[to-1].number + 1}
		return k
	}
	flush := func(to int) {
		if from < 0 {
			return
		}
		if strings.TrimSpace(b.between(from, to)) != "" {
			add(from, to, max(base+scores.sum(), 0.02)*weight)
		}
		from, size, scores = -1, 0, best{}
	}
	for i := range b.lines {
		text := b.at(i)
		if heads[text] {
			flush(i)
			rows = -1
			rows = add(i, i+1, 0)
			continue
		}
		if text == "" && rows >= 0 {
			flush(i)
			rows = -1
			continue
		}
		s, use := score(i)
		if b.above != nil && text != "" {
			if from >= 0 && b.above[i] != b.above[from] {
				flush(i)
			}
			if b.leads[int32(i)] != 0 {
				if use != single {
					s = 0 // it comes with others alone
				}
				use = opens
			}
		}
		switch {
		case use == skipped:
			flush(i)
			continue
		case use == blank:
			if size > most/2 {
				flush(i)
			}
			continue
		case use == opens && rows < 0:
			flush(i)
			indent := len(text) - len(strings.TrimLeft(text, " \t"))
			if i+1 < len(b.lines) && strings.HasPrefix(b.at(i+1), "=====") { // a title in the middle
				indent = -1
			}
			for len(headings) > 0 && headings[len(headings)-1].indent >= indent {
				headings = headings[:len(headings)-1]
			}
			k := add(i, i+1, s*weight)
			if b.above != nil {
				b.leads[int32(i)] = k
			}
			headings = append(headings, headed{indent, k})
			continue
		}
		if use == single {
			flush(i)
		}
		if from < 0 {
			from = i
		}
		scores.add(s)
		if size += len(text) + 3; size > most || use == single || rows >= 0 {
			flush(i + 1)
		}
	}
	flush(len(b.lines))
	p.limit(first, limit)
}

type headed struct {
	indent int
	piece  int32
}

// lineUse says what a line is in a text.
type lineUse uint8

const (
	plainLine lineUse = iota
	blank
	opens   // a section or a definition
	single  // a line that is a piece of its own
	skipped // a line that says nothing
)
