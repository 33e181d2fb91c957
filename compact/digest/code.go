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
