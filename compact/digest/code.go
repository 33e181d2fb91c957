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
	for k, f := range p.changed {
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
const wholeRegion = 480

// region adds the text of a changed region as it is now: whole if it is not long.
func (p *part) region(event, at int, text string, weight float32, head int32) {
	b := p.interest.bodyOf(text)
	p.lines(code, event, int32(1+at<<20), b, wholeRegion, func(k int) (float32, lineUse) {
		s := 0.6 + min(b.interest(p.interest, k)*0.4, 1)
		if l := b.at(k); definition.MatchString(l[min(2, len(l)):]) { // a part of a long line may be shorter
			return s + 0.6, single
		}
		return s, plainLine
	}, 1.2, weight, head, 1<<30)
}

// nameChanges adds the names of the files that were changed, the newest last.
func (p *part) nameChanges(event int) {
	left, text := max(p.room/8, 120), ""
	for i, f := range p.changed {
		if strings.HasPrefix(f.path, "/tmp/") && f.state != written { // what a command put aside
			continue
		}
		name := OneLine(f.path, 200) + endOf[f.state]
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

// tasks adds the tasks that are open, as the last call with the whole list left it, if no
// newer one is read.
func (p *part) tasks(at int) {
	for i, e := range slices.Backward(p.events) {
		if e.by != byCall || !e.answered || e.outcome.verdict >= failed || e.tasks() == nil {
			continue
		}
		if p.late(int32(i)) == "" && !p.tracks {
			p.add(steps, at, 1, "tasks as of here: "+cutAt(e.open(), max(p.room/8, 240)), foremost, -1)
		}
		return
	}
}

// endOf says how what is known of a file ended.
var endOf = map[how]string{removed: " (removed)", restored: " (taken back)"}

// foremost is the worth of what is chosen before all else.
const foremost = 1000

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

// open returns the tasks of a call that are not done, on one line.
func (a *action) open() string {
	var tasks []string
	for _, t := range a.tasks() {
		if status := t.member("status"); !strings.HasPrefix(status, "complete") {
			tasks = append(tasks, OneLine(t.member(taskTexts), 80)+" ("+cmp.Or(OneLine(status, 16), "open")+")")
		}
	}
	return cmp.Or(strings.Join(tasks, "; "), "all completed")
}
