package digest

import (
	"slices"
	"strings"
)

// code adds the files that were changed, with the text of their changed regions as
// it is now.
func (p *part) code() {
	at := len(p.events)
	p.changed = p.files.since(p.events)
	p.nameChanges(at)
	p.tasks(at)
	at++
	for k, f := range p.changed {
		if k >= mostFiles {
			break
		}
		w := float32(1.2) / (1 + 0.15*float32(k))
		note := ""
		if f.touched {
			note = " (a command changed it after that)"
		}
		head := p.add(code, at+k, 0, quote(f.path, 200)+note+":", -1, -1) // only with a region
		for g := range f.regions {
			p.statements(at+k, int32(1+g<<20), f.regions[g].now(), w, head, p.room/2)
		}
	}
}

// statements adds lines of code that was written. A line may have a mark.
func (p *part) statements(event int, order int32, text string, weight float32, need int32, limit int) {
	b := p.interest.bodyOf(text)
	p.lines(code, event, order, b, 600, func(n int) (float32, lineUse) {
		l := b.at(n)
		if strings.Trim(l, "+- \t") == "" {
			return 0, blank
		}
		return 0.6 + min(b.interest(p.interest, n)*0.4, 1), plainLine
	}, 1.2, weight, need, limit)
}

// nameChanges adds the names of the files that were changed, the newest last.
func (p *part) nameChanges(event int) {
	var names []string
	left := max(p.room/8, 120)
	for _, f := range p.changed {
		name := quote(f.path, 200)
		switch {
		case f.state == removed:
			name += " (removed)"
		case f.state == restored:
			name += " (restored)"
		case f.times > 1:
			name += " (" + itoa(f.times) + " ×)"
		}
		if left -= len(name) + 2; left < 0 {
			break
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		slices.Reverse(names)
		p.add(steps, event, 0, "changed: "+strings.Join(names, ", "), 20, -1)
	}
}

// tasks adds the list of tasks, if calls changed the list and no newer one is read.
func (p *part) tasks(at int) {
	for _, m := range p.kept {
		if slices.ContainsFunc(m.actions, func(a *action) bool { return a.kind == tracks && a.values.tasks() != nil }) {
			return
		}
	}
	if slices.ContainsFunc(p.events, func(e *event) bool { return e.by == byCall && e.kind == tracks }) {
		text := p.todo.line(min(120, max(40, p.room/8/(len(p.todo)+1))))
		if text != "" && len(text) < max(p.room/8, 240) {
			p.add(steps, at, 1, "tasks as of here: "+text, 15, -1)
		}
	}
}

// mostFiles is how many changed files are shown with their text.
const mostFiles = 64
