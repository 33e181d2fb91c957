package digest

import (
	"fmt"
	"slices"
	"strings"
)

// The trail is what an agent did and found: the files that it changed, what
// failed, what it concluded. An agent without it does all of that again.

// change is what was done to a file.
type change struct {
	last  *action
	times int
	told  int32 // index.anew as of the newest part that names it
}

// write is a call that writes a file.
type write struct {
	path string
	by   *action
}

// note notes the files that a call writes.
func (r *Record) note(a *action) {
	for _, path := range a.written {
		c := r.changed[path]
		if c == nil {
			c = &change{}
			r.changed[path] = c
		}
		c.last = a
		c.times++
		r.all.writes = append(r.all.writes, write{path, a})
	}
}

// changes writes the files that calls wrote or edited, and what else they did, ordered by the last change:
// the newest with the last thing done to them, the others only named. There is
// room for all of it, and names may take more. It returns the tokens spent.
func (p *part) changes(room, names int) (spent int) {
	s := p.section(room)
	var rest []string
	for _, w := range slices.Backward(p.writes) {
		path, f := w.path, p.changed[w.path]
		if f.last != w.by || len(rest) > maxMisses {
			continue
		}
		line := f.line(path, max(s.left, minHow))
		if len(rest) == 0 && !s.full() && (len(s.lines) == 0 || p.cost(line) <= s.left/2) && s.add(line) {
			f.told = p.index.anew
			continue
		}
		if n := p.index.names[path]; f.told != p.index.anew && (n == nil || n.visible == 0) {
			rest = append(rest, path)
		}
	}
	spent = p.nameChanges(rest, max(names, room-s.spent))
	return spent + s.write()
}

// line returns what is recorded of a change, with at most room bytes of how it
// was done.
func (c *change) line(path string, room int) string {
	last, times := c.last, ""
	if c.times > 1 {
		times = fmt.Sprintf(" (%d ×)", c.times)
	}
	if path == last.deed() {
		return "done: " + path + times + outcome(last.result) + "\n"
	}
	how := last.tool + last.rest
	if brief := last.brief(); last.path == "" && brief != "" {
		how = brief
	}
	return "changed: " + path + times + ": " + quote(how, min(argChars, room)) + outcome(last.result) + "\n"
}

// minHow is how much of what was done to a file is told at least, in bytes.
const minHow = 40

// nameChanges names files that were changed, given newest first, without what was
// done to them. Of a path that begins like the one before only the end is
// written.
func (p *part) nameChanges(paths []string, room int) (spent int) {
	const label = "changed: "
	room -= p.cost(label) + 1
	var list []string
	before := ""
	for _, path := range paths {
		name := path
		if dir := folder(folder(path)); dir != "" && strings.HasPrefix(before, dir) {
			name = "…" + path[len(dir):]
		}
		n := p.cost(name) + 1
		if n > room-spent {
			break
		}
		before = path
		p.changed[path].told = p.index.anew
		spent += n
		list = append(list, name)
	}
	if len(list) == 0 {
		return 0
	}
	p.text.WriteString(label + strings.Join(list, ", ") + "\n")
	return spent + p.cost(label) + 1
}

// folder returns the folder of a path, or "".
func folder(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

const (
	lastErrors    = 3 // results whose first error is recorded
	lastFailures  = 8 // failed tests
	failuresOfRun = 4 // of one result
)

// errors writes the failed tests in the newest run of each command, and the
// error lines of the newest results, in their order. What failed last is most
// likely what the agent works on. It returns the tokens spent.
func (p *part) errors(room int) int {
	sec := p.section(room)
	seen := map[string]bool{} // commands with a newer run
	failed, wrong := 0, 0
	add := func(line string, s *source) bool {
		if p.recorded[line] {
			return false
		}
		line = "error: " + line
		if s.call != nil && s.call.command != "" {
			line += " (" + quote(s.call.subject(), 60) + ")"
		}
		return !slices.Contains(sec.lines, line+"\n") && sec.add(line+"\n")
	}
	for _, s := range slices.Backward(p.sources) {
		if failed >= lastFailures && wrong >= lastErrors || sec.full() {
			break
		}
		if !s.role.Result() {
			continue
		}
		if s.call != nil {
			run := s.call.name()
			if seen[run] {
				continue
			}
			seen[run] = true
		}
		report := s.reports()
		for _, line := range slices.Backward(report.failures) {
			if failed < lastFailures && add(line, s) {
				failed++
			}
		}
		if report.error != "" && wrong < lastErrors && add(report.error, s) {
			wrong++
		}
	}
	return sec.write()
}

// report is what a result says that failed.
type report struct {
	failures []string // failed tests
	error    string   // the first line of an error, if no test failed
}

// reports returns what the source reports.
func (s *source) reports() *report {
	if s.report == nil {
		s.report = &report{failures: failures(s.text)}
		if line, ok := errorLine(s.text); ok && len(s.report.failures) == 0 {
			s.report.error = quote(line, errorChars)
		}
	}
	return s.report
}

// failureWords begin or end the line of a failed test, as test runners write
// it.
var failureWords = []string{"--- FAIL: ", "FAILED ", "not ok ", "✕ ", "✗ ", "✘ ", "● ", "... FAILED", "FAIL: "}

// failures returns the first lines of a text that name a failed test, each with
// the next line if that has the place.
func failures(text string) (lines []string) {
	var places []int
	for _, w := range failureWords {
		for at, n := 0, 0; n < failuresOfRun; n++ {
			i := strings.Index(text[at:], w)
			if i < 0 {
				break
			}
			places = append(places, at+i)
			at += i + len(w)
		}
	}
	slices.Sort(places)
	done := -1
	for _, at := range places {
		from, to := lineAt(text, at, at)
		if from < done || len(lines) == failuresOfRun || from != 0 && text[from-1] != '\n' {
			continue
		}
		line := text[from:to]
		if !namesFailure(strings.TrimSpace(line)) {
			continue
		}
		if to < len(text) {
			f, t := lineAt(text, to+1, to+1)
			if next := text[f:t]; next != "" && isBlank(next[0]) && strings.ContainsAny(next, "0123456789") {
				line, to = line+" "+next, t
			}
		}
		done = to
		lines = append(lines, OneLine(line, errorChars))
	}
	return lines
}

// namesFailure reports whether a line names a failed test.
func namesFailure(line string) bool {
	if strings.HasPrefix(line, "● ") && !strings.Contains(line, " › ") {
		return false // a bullet that Jest did not write
	}
	begins := func(w string) bool { return strings.HasPrefix(line, w) }
	return (slices.ContainsFunc(failureWords, begins) || strings.HasSuffix(line, "... FAILED")) && hasName(line)
}

// hasName reports whether a text has a name in it.
func hasName(text string) bool {
	for range names(text) {
		return true
	}
	return false
}
