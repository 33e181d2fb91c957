package digest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// code adds the files that were changed, with the text of their changed regions as
// it is now.
func (p *part) code() {
	at := len(p.events)
	p.changed = p.files.since(p.events[p.old:])
	p.nameChanges(at)
	p.tasks(at)
	at++
	var newest []*region
	for k, f := range p.changed[:min(len(p.changed), mostFiles)] {
		note := ""
		if f.touched {
			note = " (it may have changed after that)"
		}
		head := p.add(code, at+k, 0, OneLine(f.path, 200)+note+":", -1, -1) // only with a region
		first := len(newest)
		for g := range f.regions {
			g := &f.regions[g]
			if g.text = g.now(); g.text != "" {
				g.at, g.head, g.more = [2]int{at + k, 1 + (len(newest)-first)<<20}, head, true
				newest = append(newest, g)
			}
		}
		if len(newest) > first {
			newest[len(newest)-1].more = false
		}
	}
	slices.SortStableFunc(newest, func(a, b *region) int { return cmp.Compare(b.last.origin, a.last.origin) })
	for k, g := range newest {
		w := 1.6 / (1 + 0.05*float32(k))
		if p.changed[g.at[0]-at].ran {
			w *= scratch
		}
		p.region(g, w)
		g.text = ""
	}
}

// wholeRegion is the length of changed regions that are told whole.
const wholeRegion = 600

// region adds the text of a changed region as it is now: whole if it is not long.
func (p *part) region(g *region, weight float32) {
	b := p.interest.bodyOf(g.text)
	for _, k := range b.blocks(min(wholeRegion, max(leastLine, p.room/6)), 2) {
		w, text := weight, b.between(k.from, k.to)
		if !strings.ContainsFunc(text, unicode.IsLetter) {
			continue // brackets alone
		}
		switch {
		case !tellsChange(text):
			w *= unchanged
		case k.to == k.from+1 && strings.HasPrefix(text, "+ ") && definition.MatchString(text[2:]):
			w *= defined
		}
		p.span(code, g.at[0], int32(g.at[1]), b, [2]int{k.from, k.to}, 1.2, w, g.head, func(k int) float32 {
			s := 0.6 + min(b.interest(p.interest, k)*0.4, 1)
			if l := b.at(k); definition.MatchString(l[min(2, len(l)):]) { // a part of a long line may be shorter
				s += 0.6
			}
			return s
		})
		q := &p.pieces[len(p.pieces)-1]
		q.rest = q.rest || g.more
	}
}

// tellsChange reports whether a piece of a region has a line that an edit changed, and that
// does not only explain the code or name what it needs.
func tellsChange(piece string) bool {
	for l := range strings.SplitSeq(piece, "\n") {
		if len(l) > 2 && l[0] != ' ' && !comment.MatchString(strings.TrimSpace(l[2:])) {
			return true
		}
	}
	return false
}

// unchanged is the share of its worth of a piece of a region that tells of no change.
const unchanged = 0.6

// defined raises the first line of a definition that is too long to be told whole.
const defined = 2.5

// nameChanges adds the names of the files that were changed, the newest last.
func (p *part) nameChanges(event int) {
	var names []string
	left, more := max(p.room/8, 120), ""
	for i, f := range p.changed {
		name := OneLine(f.path, 200)
		switch {
		case strings.HasPrefix(f.path, "/tmp/") && (f.state == rewritten || f.state == removed): // what a command put aside
			continue
		case f.state == removed:
			name += " (removed)"
		case f.state == restored:
			name += " (restored)"
		case f.state == undone:
			name += " (taken back)"
		case f.times > 1:
			name += " (" + itoa(f.times) + " ×)"
		}
		if left -= len(name) + 2; left < 0 {
			more = "at least " + count(len(p.changed)-i, "file") + " before, "
			break
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		slices.Reverse(names)
		p.add(steps, event, 0, "changed: "+more+strings.Join(names, ", "), foremost, -1)
	}
}

// tasks adds the list of tasks, if calls changed the list and no newer one is read.
func (p *part) tasks(at int) {
	for _, m := range p.kept {
		if slices.ContainsFunc(m.actions, func(a *action) bool { return a.tasks() != nil }) {
			return
		}
	}
	if slices.ContainsFunc(p.events, func(e *event) bool { return e.by == byCall && (e.kind == tracks || e.tasks() != nil) }) {
		n, most := min(120, max(40, p.room/8/(len(p.todo)+1))), max(p.room/8, 240)
		text := p.todo.line(n, true)
		if len(text) > most {
			text = cutAt(p.todo.line(n, false), most)
		}
		if text != "" {
			p.add(steps, at, 1, "tasks as of here: "+text, foremost, -1)
		}
	}
}

// foremost is the worth of what is chosen before all else.
const foremost = 1000

// scratch is the share of its worth of the text of a script that was run: its output tells more.
const scratch = 0.3

// mostFiles is how many changed files are shown with their text.
const mostFiles = 64

// todo is the list of tasks that calls keep, as the last of them left it.
type todo []task

type task struct{ id, text, status string }

// The names that agents give to the members of a task.
const (
	taskTexts = "content step subject title task description text"
	taskIDs   = "taskid id"
)

// taskNumber finds the number of a task that was added, in the result of the call.
var taskNumber = regexp.MustCompile(`#(\d+)`)

// track takes what a call makes of the list: the whole of it, a task more, or another
// status of one.
func (t *todo) track(e *event) {
	v := &e.values
	if list := e.tasks(); list != nil {
		if v.member("merge") != "true" {
			*t = nil
		}
		for i := range list {
			m := &list[i]
			if id, text, status := m.member(taskIDs), m.member(taskTexts), m.member("status"); !t.change(id, text, status) {
				*t = append(*t, task{id, text, status})
			}
		}
		return
	}
	id, text, status := v.member(taskIDs), v.member(taskTexts), v.member("status")
	if t.change(id, v.member("subject title"), status) {
		return
	}
	if m := taskNumber.FindStringSubmatch(firstBytes(e.result.text, 200)); id == "" && text != "" && m != nil {
		*t = append(*t, task{m[1], text, cmp.Or(status, "pending")})
	}
}

// change changes what is said of a task, and reports whether it is in the list.
func (t *todo) change(id, text, status string) bool {
	for i := range *t {
		if was := &(*t)[i]; id != "" && was.id == id {
			was.text, was.status = cmp.Or(text, was.text), cmp.Or(status, was.status)
			return true
		}
	}
	return false
}

// tasks returns the tasks of a call that has a whole list of them, or nil.
func (a *action) tasks() []value {
	if a.kind != tracks {
		return boxes(a.values.member("taskprogress"))
	}
	for i := range a.values.list {
		m := &a.values.list[i]
		if m.kind == '[' && len(m.list) > 0 && m.list[0].member(taskTexts)+m.list[0].member("status") != "" {
			return m.list
		} else if list := boxes(m.text); list != nil {
			return list
		}
	}
	return nil
}

// box finds a task in a list that is a text: - [x] Write it.
var box = regexp.MustCompile(`(?m)^[ \t]*(?:[-*] |\d+[.)] )?\[([ xX~-])\] +(\S.*)$`)

// boxes returns the tasks of a list that is a text.
func boxes(text string) (list []value) {
	for _, m := range box.FindAllStringSubmatch(text, mostChanges) {
		status := "in_progress"
		switch m[1] {
		case " ":
			status = "pending"
		case "x", "X":
			status = "completed"
		}
		list = append(list, value{kind: '{', keys: []string{"content", "status"}, list: []value{{text: m[2]}, {text: status}}})
	}
	return list
}

// line returns the list on one line, in at most some bytes for a task. Of tasks that
// are done it has the number, unless all is set.
func (t todo) line(n int, all bool) string {
	var b strings.Builder
	done := 0
	for _, k := range t {
		switch {
		case k.status == "deleted":
		case !all && strings.HasPrefix(k.status, "complete"):
			done++
		default:
			id := ""
			if len(k.id) <= 4 && strings.Trim(k.id, "0123456789") == "" && k.id != "" {
				id = "#" + k.id + " "
			}
			b.WriteString("; " + id + OneLine(k.text, n) + " (" + cmp.Or(OneLine(k.status, 16), "open") + ")")
		}
	}
	if done > 0 {
		return itoa(done) + " completed" + b.String()
	}
	return strings.TrimPrefix(b.String(), "; ")
}
