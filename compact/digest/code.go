package digest

import (
	"regexp"
	"slices"
	"strings"

	"laconic/compact/agent"
	"laconic/compact/quote"
)

// code adds the files that were changed, with the text of their changed regions as
// it is now.
func (p *part) code() {
	files := slices.DeleteFunc(p.files.newest(), func(f *file) bool { return f.path == agent.EveryFile || f.last.told && !f.stays })
	p.nameChanges(slices.DeleteFunc(slices.Clone(files), func(f *file) bool { return f.last.told }))
	at := len(p.events) + 1
	for k, f := range files {
		where, note := "as of here, in ", ""
		if f.whole() {
			where = "as of here, "
		}
		if f.touched {
			note = " (it may have changed after that)"
		}
		head := p.add(piece{class: steps, event: at + k, text: where + quote.Line(quote.OneLine(agent.From(p.root, f.path), 200)) + note + ":", score: -1, need: -1}) // only with a region
		if e := f.last; f.whole() && e.Kind == agent.Edits && len(e.Changes) == 1 && e.Changes[0].How == agent.Written {
			p.wrote[e] = head
		}
		w := 1.6 / (1 + 0.1*float32(k))
		if settings.MatchString(f.path) {
			w *= 3
		} else if tests.MatchString(f.path) {
			w *= 0.5
		} else if styles.MatchString(f.path) {
			w *= 0.25
		}
		f.stays = slices.ContainsFunc(f.regions, func(g agent.Change) bool {
			known, lines := p.seen.count(g.New, nil)
			return known*2 > lines
		})
		for _, g := range f.regions {
			if fresh, _ := difference(g.Old, g.New); strings.TrimSpace(strings.Join(fresh, "")) != "" {
				p.region(piece{class: code, event: at + k, need: head}, f, g.New, w)
			}
		}
	}
}

// settings finds files of settings and values, and those that an agent keeps for itself: the next
// steps go by them.
var settings = regexp.MustCompile(`^/memories/|\.(?:json|ya?ml|toml|ini|cfg|conf|env|properties)$`)

// tests finds files of tests, which are long and say less than what they test, and styles those that
// say how a page looks.
var (
	tests  = regexp.MustCompile(`(?i)(?:^|[/_.])(?:tests?|specs?)[/_.]`)
	styles = regexp.MustCompile(`\.(?:css|s[ac]ss|less)$`)
)

// region adds the text of a changed region of a file as it is now: whole if it is not long. Of a long
// file that was written whole what it defines comes before how.
func (p *part) region(q piece, f *file, text string, weight float32) {
	document := strings.HasSuffix(f.path, ".md")
	outlined := f.whole() && !document && strings.Count(text, "\n") > fewLines
	b := p.interest.bodyOf(text, len(text))
	b.findTexts()
	p.lines(q, b, layout{most: wholeRegion, limit: max(1000, p.room/8), base: 1.2, weight: weight}, func(k int) (float32, lineUse) {
		s := 0.6 + min(b.interest(p.interest, k)*0.4, 1)
		if f.whole() {
			n, _ := f.edited.count(b.at(k), nil)
			s += 0.6 * float32(n)
		}
		switch l := b.at(k); {
		case closing.MatchString(l):
			return 0, closes
		case wordless.MatchString(l):
			return 0, blank
		case definition.MatchString(l), document && l[0] == '#':
			if s += 0.6; outlined {
				s += defined
			}
			return s, leads
		case decorator.MatchString(l):
			return s, opens
		}
		return s, plainLine
	})
}

// nameChanges adds the names of the files that were changed, the newest last.
func (p *part) nameChanges(files []*file) {
	left, text := max(p.room/8, 120), ""
	for i, f := range files {
		if strings.HasPrefix(f.path, "/tmp/") && strings.Count(f.path, "/") == 2 && !f.whole() { // what a command put aside
			continue
		}
		name := quote.OneLine(agent.From(p.root, f.path), 200)
		switch {
		case f.how == agent.Removed:
			name += " (removed)"
		case f.how == agent.Restored && !f.touched:
			name += " (restored)"
		}
		if left -= len(name) + 2; left < 0 {
			text = "at least " + quote.Count(len(files)-i, "other file") + ", " + text
			break
		}
		text = quote.Joined(name, ", ", text)
	}
	if text != "" {
		p.add(piece{class: steps, event: len(p.events), text: "changed: " + text, score: foremost, need: -1})
	}
}

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
