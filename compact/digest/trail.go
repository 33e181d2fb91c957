package digest

import (
	"fmt"
	"slices"
	"strings"

	"laconic/compact"
)

// The trail is what an agent did and found: the files that it changed, what
// failed, what it concluded. An agent without it does all of that again.

// changes writes the files that calls wrote or edited, each with the last thing
// done to it, ordered by that. If there is not room for all, older files are
// only named. It returns the tokens spent.
func (d *digest) changes(room int) int {
	type change struct {
		last  *action
		times int
	}
	files := map[string]*change{}
	var order []string // by the last change, newest first
	for a := range d.newest() {
		for _, path := range a.writes() {
			f := files[path]
			if f == nil {
				f = &change{last: a}
				files[path] = f
				order = append(order, path)
			}
			f.times++
		}
	}
	s := d.section(room)
	for _, path := range order {
		if s.full() {
			break
		}
		f := files[path]
		line := "changed: " + path
		if f.times > 1 {
			line += fmt.Sprintf(" (%d ×)", f.times)
		}
		how := f.last.tool + f.last.rest
		if f.last.path == "" {
			how = f.last.subject()
		}
		if long := line + ": " + quote(how, argChars) + outcome(f.last.result); d.cost(long+"\n") <= s.left/2 {
			line = long
		}
		s.add(line + "\n")
	}
	return s.write()
}

const (
	lastErrors    = 3 // results whose first error is recorded
	lastFailures  = 8 // failed tests
	failuresOfRun = 4 // of one result
)

// errors writes the failed tests in the newest run of each command, and the
// error lines of the newest results, in their order. What failed last is most
// likely what the agent works on. It returns the tokens spent.
func (d *digest) errors(room int) int {
	sec := d.section(room)
	seen := map[string]bool{} // commands with a newer run
	failed, wrong := 0, 0
	add := func(line string, s *source) bool {
		if d.recorded[line] {
			return false
		}
		line = "error: " + line
		if s.call != nil && s.call.command != "" {
			line += " (" + quote(s.call.subject(), 60) + ")"
		}
		return !slices.Contains(sec.lines, line+"\n") && sec.add(line+"\n")
	}
	for i := range slices.Backward(d.sources) {
		s := &d.sources[i]
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
		tests := failures(s.text)
		for _, line := range slices.Backward(tests) {
			if failed < lastFailures && add(line, s) {
				failed++
			}
		}
		if line, ok := errorLine(s.text); ok && len(tests) == 0 && wrong < lastErrors && add(quote(line, errorChars), s) {
			wrong++
		}
	}
	return sec.write()
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
		if trimmed := strings.TrimSpace(line); !slices.ContainsFunc(failureWords, func(w string) bool { return strings.HasPrefix(trimmed, w) }) && !strings.HasSuffix(trimmed, "... FAILED") || !hasName(line) {
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

// hasName reports whether a text has a name in it.
func hasName(text string) bool {
	for range names(text) {
		return true
	}
	return false
}

// sharesName reports whether one of texts has a name of text.
func sharesName(text string, texts []string) bool {
	for from, to := range names(text) {
		if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, text[from:to]) }) {
			return true
		}
	}
	return false
}

const (
	conclusionChars = 240
	minConclusion   = 24
)

// conclusions writes what the assistant concluded: the last sentence of a
// message that names something, the last sentence of an answer without calls,
// and notes that were appended to a file. The newest that fit are written, in
// their order. It returns the tokens spent.
func (d *digest) conclusions(room int) int {
	s := d.section(room)
	for i := range slices.Backward(d.lost) {
		if s.full() {
			break
		}
		m := &d.lost[i]
		if m.Role != compact.Assistant {
			continue
		}
		var said []string
		for c := range d.actions[i] {
			if a := &d.actions[i][c]; a.path == "" && strings.Contains(a.command, ">>") && len(a.command) <= conclusionChars {
				said = append(said, quote(a.command, conclusionChars))
			}
		}
		if text := conclusion(textOf(m), len(m.Calls) == 0); text != "" && !sharesName(text, said) {
			said = append(said, text)
		}
		for _, text := range slices.Backward(said) {
			if slices.ContainsFunc(s.lines, func(l string) bool { return strings.Contains(l, strings.TrimRight(text, ".")) }) {
				s.misses++
			} else {
				s.add("concluded: " + text + "\n")
			}
		}
	}
	return s.write()
}

// conclusion returns the last sentence of an assistant message that says
// something. last accepts a sentence without names.
func conclusion(text string, last bool) string {
	if len(text) > 4*conclusionChars {
		text = strings.ToValidUTF8(text[len(text)-4*conclusionChars:], "")
		if i := strings.IndexAny(text, " \n"); i >= 0 {
			text = text[i+1:]
		}
	}
	for end := len(strings.TrimRight(text, " \n")); end > 0; {
		from := max(sentenceEnd(text[:end-1]), strings.LastIndexByte(text[:end-1], '\n')+1)
		if s := text[from:end]; len(s) >= minConclusion && (last || hasName(s)) {
			return OneLine(s, conclusionChars)
		}
		end = len(strings.TrimRight(text[:from], " \n"))
	}
	return ""
}

// sentenceEnd returns the index after the last sentence that ends in a text, or
// 0. The dot after the number of a list item ends no sentence.
func sentenceEnd(text string) int {
	for at := len(text); ; {
		if at = strings.LastIndex(text[:at], ". "); at < 0 {
			return 0
		}
		if at == 0 || class[text[at-1]] != digit {
			return at + 2
		}
	}
}
