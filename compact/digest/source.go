package digest

import "strings"

// source adds what was read of a file: of code whole pieces under their
// definitions, of prose and settings rules and values first.
func (p *part) source(i int, e *event, head int32) {
	if e.outcome.verdict == failed || p.bodies[i] == nil {
		return
	}
	b := p.bodies[i]
	if isCode(e.path, e.result.text) {
		p.program(i, e, b, head)
		return
	}
	n := len(b.lines)
	short := len(e.result.text) <= shortFile
	w, stands := p.weights[i], standing.MatchString(e.path)
	if stands {
		w = standingWeight // however long ago
	}
	p.lines(rules, i, 1, b, 300, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := strings.TrimSpace(l)
		if t == "" {
			return 0, blank
		}
		if isNoise(t) {
			return 0, skipped
		}
		if isHeading(t) && n > 8 {
			return 0.1, opens
		}
		s := b.interest(p.interest, k)*0.6 + max(0, 0.9-0.45*float32(k))
		if stands && isItem(l) {
			s += 0.5
		}
		if binds(l) {
			s += 1.5
		}
		if short {
			s += 0.35
			if setting(l) {
				s += 0.7
			}
		}
		if isItem(l) {
			s += 0.15
		}
		if strings.ContainsAny(t, "0123456789") {
			s += 0.15
		}
		return s, plainLine
	}, 0, w, head, max(500, p.room/8))
}

// standingWeight is the weight of rules that hold as long as the work goes on.
const standingWeight = 2

// shortFile is the length up to which a file counts as short. Settings and tasks
// are short, and an agent reads them once, early.
const shortFile = 2400

// program adds pieces of source code under the definitions that hold them.
func (p *part) program(i int, e *event, b *body, head int32) {
	doc := false
	p.lines(sources, i, 1, b, 520, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := strings.TrimSpace(l)
		if t == "" {
			return 0, blank
		}
		quotes := strings.Count(t, `"""`) + strings.Count(t, "'''")
		comment := doc || quotes > 0 || isComment(t)
		if quotes%2 == 1 {
			doc = !doc
		}
		s := min(b.interest(p.interest, k), 2)
		switch {
		case comment:
			return s * 0.25, plainLine
		case isDefinition(l):
			return max(0, s-0.5) * 0.6, opens
		}
		return s, plainLine
	}, 0, p.weights[i]*0.62, head, p.room*2/9)
}
