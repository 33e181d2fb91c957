package digest

import "strings"

const maxLineChars = 400

// lines adds lines of a body as pieces of a few whole lines, each with its
// heading: heading returns whether a line is one for those after it.
func (p *part) lines(c purpose, event int, order int32, b *body, most int, score func(i int) (s float32, use lineUse), base, weight float32, need int32, limit int) {
	most = min(most, max(leastLine, p.room/5))
	var headings []headed
	from, size := -1, 0
	dense, densest := "", float32(0)
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
			over = b.leads[b.above[from]]
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
		d := s
		if c == prints && i == len(b.lines)-1 {
			d += closing
		}
		if d > densest && rows < 0 { // the values of a row have no names there
			dense, densest = strings.TrimSpace(b.quoted(i, i+1)), d
		}
		scores.add(s)
		if size += len(text) + 3; size > most || use == single || rows >= 0 {
			flush(i + 1)
		}
	}
	flush(len(b.lines))
	if dense != "" && need >= 0 && p.pieces[need].class == steps && c != sources && !p.known(c, dense) {
		brief := OneLine(dense, briefChars)
		if all := strings.TrimSpace(b.text); len(all) <= 2*briefChars {
			brief = OneLine(strings.ReplaceAll(all, "\n", lineMark), 3*briefChars)
		}
		p.pieces[need].brief = brief
		p.pieces[need].cost += int32(len(brief))
	}
	p.limit(first, limit)
}

// closing is how much more the last line of an output is worth where a step shows one line.
const closing = 1.5

// briefChars is how much of a result a step shows that shows nothing else of it.
const briefChars = 100

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

// joinedPieces returns pieces in their order, those of a text as one between which next to nothing is
// left out: what stands there is told instead of a mark, as is what little follows the last.
func (p *part) joinedPieces(on []*piece) (list []*piece) {
	for k, q := range on {
		if n := len(list) - 1; n >= 0 && list[n].nextTo(q) && list[n].goesOn(q.span[0]) {
			all := *list[n]
			all.upTo(q.span[1], q.lines[1])
			list[n] = &all
		} else {
			list = append(list, q)
		}
		last := list[len(list)-1]
		if last.class != prints || p.at(last.event).kind != runs || k+1 < len(on) && last.nextTo(on[k+1]) {
			continue
		}
		if n := len(last.body.lines); last.goesOn(n) {
			all := *last
			all.upTo(n, last.body.lines[n-1].number+1)
			list[len(list)-1] = &all
		}
	}
	return list
}

// nextTo reports whether two chosen pieces are of one text, the other behind this one.
func (q *piece) nextTo(next *piece) bool {
	return q.body != nil && q.body == next.body && q.on && next.on && q.class == next.class && (q.class != data || q.need == next.need) && q.span[1] <= next.span[0]
}

// upTo makes a piece have the lines of its body up to one, whose number is known.
func (q *piece) upTo(end int, number int32) {
	q.span[1], q.lines[1] = end, number
	q.text = q.body.quoted(q.span[0], end)
	if n := len(q.body.lines); q.class == userWords && strings.TrimSpace(q.body.between(end, n)) != "" {
		q.text = strings.TrimSuffix(q.text, "…") + " …"
	}
}

// goesOn reports whether next to nothing is left out between a piece and a line of its body, and
// nothing of what is left out because it is not the user's or says nothing.
func (q *piece) goesOn(to int) bool {
	gap := strings.TrimSpace(q.body.between(q.span[1], to))
	if len(gap) > shortGap || gap != "" && q.class == userWords {
		return false
	}
	for l := range strings.Lines(gap) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "```") || q.class >= prints && l != "" && (strings.Trim(l, "-.") == "" || passedTest.MatchString(l)) {
			return false
		}
	}
	return true
}

// shortGap is the length of what is told instead of a mark in its place.
const shortGap = 60
