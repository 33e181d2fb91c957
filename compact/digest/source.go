package digest

import (
	"regexp"
	"strings"
)

// source adds what was read of a file: of code whole pieces under their
// definitions, of prose and settings rules and values first.
func (p *part) source(i int, e *event, head int) {
	f := p.files.later(e)
	if e.outcome.verdict == failed || p.bodies[i] == nil || f != nil && f.whole {
		return
	}
	b := p.bodies[i]
	if isCode(e.path) {
		p.program(i, b, head)
		return
	}
	n := len(b.lines)
	short := len(e.result.text) <= shortFile
	w := p.weights[i]
	p.lines(piece{class: rules, event: i, order: 1, need: head}, b, layout{most: 300, limit: max(500, p.room/8), weight: w}, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := strings.TrimSpace(l)
		if t == "" {
			return 0, blank
		}
		rule := binds(l)
		if b.leadsOn(k) {
			return 0, leads
		}
		if k < 3 && e.result.object != unknown && ofDocument.MatchString(t) {
			return 0, skipped
		}
		if heading.MatchString(t) && n > 8 {
			return 0.1, opens
		}
		s := b.interest(p.interest, k)*0.6 + max(0, 0.9-0.45*float32(k))
		if rule {
			s += ofRule
		}
		if short {
			s += 0.6
		}
		if f == nil && (rule || short) { // however long ago
			s *= max(1, heldWeight/w)
		}
		if rule {
			return s, single
		}
		if tableHead.MatchString(l) {
			return 0, header
		}
		return s, plainLine
	})
}

// program adds lines of source code below the lines that begin their definitions.
func (p *part) program(i int, b *body, head int) {
	p.lines(piece{class: sources, event: i, order: 1, need: head}, b, layout{most: max(wholeCode, p.room/10), limit: p.room * 2 / 7, weight: p.weights[i] * 0.7}, func(k int) (float32, lineUse) {
		l := b.at(k)
		s := min(b.interest(p.interest, k), 2)
		switch t := strings.TrimSpace(l); {
		case t == "":
			return 0, blank
		case conflict.MatchString(t):
			return 2, plainLine
		case comment.MatchString(t):
			return s * 0.4, plainLine
		case definition.MatchString(l):
			return s * 0.5, opens
		}
		return s, plainLine
	})
}

// conflict finds the lines between which git leaves the sides of a merge.
var conflict = regexp.MustCompile(`^(?:<{7} |={7}$|>{7} )`)
