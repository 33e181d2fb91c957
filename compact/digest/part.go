package digest

import (
	"slices"
	"strings"

	"laconic/compact"
)

// part is a part of a record that is being written.
type part struct {
	*Record
	events []*event // that it is chosen from
	old    int      // so many of them are of parts before
	head   string
	size   int // tokens

	interest *interest
	seen     map[uint64]bool // lines that the model reads
	stays    map[*event]bool // the edits whose calls it reads
	bodies   []*body         // of the results of the events
	weights  []float32       // of the events
	room     int             // bytes
	pieces   []piece
}

// write returns the text of the part, or "" if it would say nothing.
func (p *part) write() string {
	p.room = p.size * 7 / 2
	p.events, p.old = slices.Concat(p.carried, p.between(p.events)), len(p.carried)
	for i := range p.events { // what came later counts more
		p.weights = append(p.weights, 0.5+0.8*float32(i+1)/float32(len(p.events)))
	}
	p.see()
	last, times := map[[2]uint64]int{}, map[[2]uint64]int{} // of steps that come again with the same result
	keys := make([][2]uint64, len(p.events))
	acts, of := 0, [2]uint64{}
	for i, e := range p.events {
		keys[i] = e.again()
		if e.by == byUser || e.by == byCall && e.mayAct() {
			if keys[i] != of || of[1] == 0 {
				acts, of = acts+1, keys[i]
			}
			keys[i][0] += uint64(acts) // what comes between may depend on it
		}
		if keys[i][1] != 0 {
			last[keys[i]], times[keys[i]] = i, times[keys[i]]+1
		}
	}
	for i, e := range p.events {
		switch again := keys[i]; {
		case i < p.old:
			if !p.files.after(e.path, e) {
				p.weights[i] *= worthLater
				first := len(p.pieces)
				p.step(i, e, 0)
				p.pieces[first].score = -1 // it comes with others alone
			}
		case e.moved:
		case again[1] != 0 && last[again] > i, e.by == byCall && e.kind == edits && e.outcome.verdict == passed && p.stays[e]:
		case e.below:
			p.add(piece{class: steps, event: i, text: "user, whose message stands below: " + e.words, score: foremost, need: -1})
		case e.by == byUser:
			p.user(i, e)
		case e.by == byAgent:
			p.agent(i, e)
		default:
			p.step(i, e, times[again])
		}
	}
	p.code()
	return p.fit()
}

// between returns events with those of messages of users that the model still reads between
// them: the steps behind such a message came after it.
func (p *part) between(events []*event) []*event {
	var all []*event
	for _, m := range p.kept {
		n, _ := slices.BinarySearchFunc(events, m.origin, func(e *event, origin int) int { return e.origin - origin })
		if n < len(events) && len(all)+n > 0 && m.role == compact.User && m.said != "" {
			all = append(all, events[:n]...)
			all = append(all, &event{by: byUser, below: true, action: &action{kind: reads}, origin: m.origin, words: OneLine(firstBytes(m.said, 1000), belowChars)})
			events = events[n:]
		}
	}
	return append(all, events...)
}

// again returns what tells a step from others, or zeros for one of which each time is
// told: it changed something, failed, or returned nothing.
func (e *event) again() (key [2]uint64) {
	if e.by == byCall && len(e.changes) == 0 && e.outcome.verdict <= passed && e.result.text != "" {
		key = [2]uint64{hashOf(e.label(labelChars)), hashOf(e.result.text)}
	}
	return key
}

// see learns what the work is about, and which lines the model reads.
func (p *part) see() {
	x := newInterest(min(longLine, max(leastLine, p.room/4)))
	p.interest = x
	p.seen, p.stays = make(map[uint64]bool, 256), map[*event]bool{}
	for _, m := range p.kept {
		switch {
		case m.role.Instruction():
			continue
		case m.result != nil:
			x.feed(firstBytes(m.result.text, 3000), 0.4, false)
		case m.role == compact.User:
			x.feed(firstBytes(m.text, 6000), 1.5, true)
		default:
			x.feed(m.text, 2, false)
		}
		for _, e := range m.events {
			if !m.inText {
				p.stays[e] = true
			}
			e.values.each(func(text string) { x.feed(firstBytes(text, 8000), 1.5, false) })
		}
		for _, h := range m.hashes() {
			p.seen[h] = true
		}
	}
	for i, e := range p.events {
		x.most += len(e.result.text) / bytesPerTerm
		if i < p.old {
			continue
		}
		switch e.by {
		case byUser:
			x.feed(firstBytes(e.words, 3000), 2, true)
		case byAgent:
			x.feed(e.words, p.weights[i], false)
		case byCall:
			e.values.each(func(text string) { x.feed(firstBytes(text, 4000), 0.5*p.weights[i], false) })
		}
	}
	p.bodies = make([]*body, len(p.events))
	x.open = true
	for i, e := range p.events {
		if e.result.text != "" {
			p.bodies[i] = x.bodyOf(e.result.text)
		}
	}
	x.open = false
	x.close()
}

// hashes returns the hashes of the lines of a message that are long enough to be
// told from others.
func (m *message) hashes() []uint64 {
	if m.lines == nil {
		m.lines = []uint64{}
		add := func(text string) {
			for l := range strings.SplitSeq(text, "\n") {
				if l = strings.TrimSpace(l); len(l) >= longEnough {
					m.lines = append(m.lines, hashOf(l))
				}
			}
		}
		if add(m.text); m.result != nil {
			add(m.result.text)
		}
		for _, e := range m.events {
			e.values.each(add)
		}
	}
	return m.lines
}

// known reports whether more than half of the lines of a text are in the record
// already or read by the model.
func (p *part) known(c purpose, text string) bool {
	known, lines := 0, 0
	for l := range strings.SplitSeq(text, "\n") {
		if h, ok := lineHash(c, l); ok {
			lines++
			if p.told[h] || p.seen[h] {
				known++
			}
		}
	}
	return known*2 > lines
}

// lineHash returns the hash of a line, of code without its mark, and reports whether
// the line is long enough to be told from others.
func lineHash(c purpose, l string) (h uint64, ok bool) {
	if l = strings.TrimSpace(l); c == code && len(l) > 1 && (l[0] == '+' || l[0] == '-') {
		l = strings.TrimSpace(l[1:])
	}
	return hashOf(l), len(l) >= longEnough
}

// tell notes that the record has the lines of a text.
func (p *part) tell(c purpose, text string) {
	for l := range strings.SplitSeq(text, "\n") {
		if h, ok := lineHash(c, l); ok {
			p.told[h] = true
		}
	}
}
