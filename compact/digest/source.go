package digest

import (
	"regexp"
	"strings"

	"laconic/compact/agent"
)

// source adds what was read of a file: of code whole pieces under their
// definitions, of prose and settings rules and values first.
func (p *part) source(i int, e *event, head int) {
	f := p.files.later(e)
	if e.outcome.Verdict == agent.Failed || f != nil && f.whole() {
		return
	}
	b, w := p.bodies[i], p.weights[i]
	if e.Path != "" && codeFile.MatchString(e.Path) {
		s := layout{most: max(wholeCode, p.room/10), limit: p.room * 2 / 7, weight: w * 0.7}
		if tests.MatchString(e.Path) {
			s.weight *= 0.5
		}
		b.findTexts()
		p.lines(piece{class: sources, event: i, need: head}, b, s, func(k int) (float32, lineUse) {
			l := b.at(k)
			s := min(b.interest(p.interest, k), 2)
			switch t := strings.TrimSpace(l); {
			case t == "":
				return 0, blank
			case closing.MatchString(l):
				return 0, closes
			case conflict.MatchString(t):
				return 2, plainLine
			case agent.IsComment(t):
				return s * 0.6, plainLine
			case definition.MatchString(l):
				return s * 0.5, leads
			case decorator.MatchString(l):
				return s * 0.5, opens
			}
			return s, plainLine
		})
		return
	}
	s := layout{most: 300, limit: max(500, p.room/8), weight: w}
	p.lines(piece{class: rules, event: i, need: head}, b, s, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := strings.TrimSpace(l)
		rule, short := binds(l), len(e.result.Text) <= shortFile
		s := b.interest(p.interest, k)*0.6 + max(0, 0.9-0.45*float32(k))
		switch {
		case t == "":
			return 0, blank
		case b.leadsOn(k):
			return 0, leads
		case k < 3 && e.result.Object != agent.Unknown && ofDocument.MatchString(t):
			return 0, skipped
		case heading.MatchString(t) && len(b.lines) > 8:
			return 0.1, leads
		case tableHead.MatchString(l):
			return s, header
		case rule:
			s += ofRule
		}
		if short {
			s += 0.6
		}
		if f == nil && (rule || short) { // however long ago
			s *= max(1, heldWeight/w)
		}
		switch {
		case others.MatchString(l):
			return s, rests
		case rule:
			return s, single
		}
		return s, plainLine
	})
}

// others finds the row of a tree or a table that speaks of what those above it do not name: it says
// nothing without them.
var others = regexp.MustCompile(`^[\s│|]*[├└]─+ \*(?:\s|$)|^\|\s*(?:\*|…|\.\.\.|(?i:(?:all |any )?others?|else))\s*\|`)

// conflict finds the lines between which git leaves the sides of a merge.
var conflict = regexp.MustCompile(`^(?:<{7} |={7}$|>{7} )`)
