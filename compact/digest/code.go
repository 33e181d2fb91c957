package digest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// code adds the files that were changed, with the text of their changed regions as
// it is now.
func (p *part) code() {
	at := len(p.events)
	p.changed = p.files.since(p.events[p.old:])
	p.nameChanges(at)
	p.tasks(at)
	at++
	for k, f := range p.changed[:min(len(p.changed), mostFiles)] {
		note := ""
		if f.touched {
			note = " (it may have changed after that)"
		}
		head := p.add(code, at+k, 0, OneLine(f.path, 200)+note+":", -1, -1) // only with a region
		w := 1.6 / (1 + 0.1*float32(k))
		if settings.MatchString(f.path) {
			w *= 2.2
		}
		for g := range f.regions {
			p.region(at+k, g, f.regions[g].now(), w, head)
		}
	}
}

// settings finds files of settings and values: the next steps go by them.
var settings = regexp.MustCompile(`\.(?:json|ya?ml|toml|ini|cfg|conf|env|properties)$`)

// wholeRegion is the length of changed regions that are told whole.
const wholeRegion = 600

// region adds the text of a changed region as it is now: whole if it is not long.
func (p *part) region(event, at int, text string, weight float32, head int32) {
	b := p.interest.bodyOf(text)
	for _, k := range b.blocks(min(wholeRegion, max(leastLine, p.room/6)), 2) {
		p.span(code, event, int32(1+at<<20), b, [2]int{k.from, k.to}, 1.2, weight, head, func(k int) float32 {
			s := 0.6 + min(b.interest(p.interest, k)*0.4, 1)
			if l := b.at(k); definition.MatchString(l[min(2, len(l)):]) { // a part of a long line may be shorter
				s += 0.6
			}
			return s
		})
	}
}

// nameChanges adds the names of the files that were changed, the newest last.
func (p *part) nameChanges(event int) {
	left, text := max(p.room/8, 120), ""
	for i, f := range p.changed {
		name := OneLine(f.path, 200)
		switch {
		case strings.HasPrefix(f.path, "/tmp/") && (f.state == changed || f.state == removed): // what a command put aside
			continue
		case f.state == removed:
			name += " (removed)"
		case f.state == restored:
			name += " (taken back)"
		case f.times > 1:
			name += " (" + itoa(f.times) + " ×)"
		}
		if left -= len(name) + 2; left < 0 {
			text = "at least " + count(len(p.changed)-i, "file") + " before, " + text
			break
		}
		text = joined(name, ", ", text)
	}
	if text != "" {
		p.add(steps, event, 0, "changed: "+text, foremost, -1)
	}
}

// tasks adds the list of tasks, as the last call with the whole of it left it, if no newer
// one is read.
func (p *part) tasks(at int) {
	for i, e := range slices.Backward(p.events) {
		if e.by != byCall || !e.answered || e.outcome.verdict >= failed || e.tasks() == nil {
			continue
		}
		if text := e.open(p.room / 8); p.late(int32(i)) == "" && text != "" && !p.tracks {
			p.add(steps, at, 1, "tasks as of here: "+cutAt(text, max(p.room/8, 240)), foremost, -1)
		}
		return
	}
}

// foremost is the worth of what is chosen before all else.
const foremost = 1000

// mostFiles is how many changed files are shown with their text.
const mostFiles = 64

// taskTexts are the names that agents give to the text of a task.
const taskTexts = "content step subject title task description text"

// tasks returns the tasks of a call that has a whole list of them, or nil.
func (a *action) tasks() []value {
	if a.kind != tracks || a.values.member("merge") == "true" {
		return nil
	}
	for i := range a.values.list {
		if m := &a.values.list[i]; m.kind == '[' && len(m.list) > 0 && m.list[0].member(taskTexts)+m.list[0].member("status") != "" {
			return m.list
		}
	}
	return nil
}

// open returns the tasks of a call on one line of about so many bytes. Of those that are
// done it has the number.
func (a *action) open(room int) string {
	list, done := a.tasks(), 0
	var tasks []string
	most := min(120, max(40, room/(len(list)+1)))
	for i := range list {
		if status := list[i].member("status"); strings.HasPrefix(status, "complete") {
			done++
		} else {
			tasks = append(tasks, OneLine(list[i].member(taskTexts), most)+" ("+cmp.Or(OneLine(status, 16), "open")+")")
		}
	}
	if done > 0 {
		tasks = slices.Insert(tasks, 0, itoa(done)+" completed")
	}
	return strings.Join(tasks, "; ")
}
