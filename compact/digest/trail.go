package digest

import (
	"fmt"
	"slices"
	"strings"

	"laconic/compact"
)

// The trail is what an agent did and found: the files that it changed, what
// failed, what it concluded. Who goes on without it does it all again.

// changes writes the files that calls wrote or edited, each with the last thing
// done to it, in the order of that. Where there is not room for all, the newest
// are told with what was done, the others by name. It returns the tokens spent.
func (d *digest) changes(room int) (spent int) {
	type change struct {
		last  *action
		times int
	}
	files := map[string]*change{}
	var order []string // by their last change, the newest first
	for i := range slices.Backward(d.actions) {
		for c := range slices.Backward(d.actions[i]) {
			a := &d.actions[i][c]
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
	}
	var told []string
	misses := 0
	for _, path := range order {
		if room-spent < 8 || misses > mostMisses {
			break
		}
		f := files[path]
		times := ""
		if f.times > 1 {
			times = fmt.Sprintf(" (%d ×)", f.times)
		}
		how := f.last.tool + f.last.rest
		if f.last.path == "" {
			how = f.last.subject()
		}
		long := "changed: " + path + times + ": " + quoted(how, argChars) + outcome(f.last.result) + "\n"
		if n := d.cost(long); n <= (room-spent)/2 {
			spent += n
			told = append(told, long)
			continue
		}
		short := "changed: " + path + times + "\n"
		if n := d.cost(short); n <= room-spent {
			spent += n
			told = append(told, short)
		} else {
			misses++
		}
	}
	d.backward(told)
	return spent
}

const (
	lastErrors    = 3 // results whose first error is told
	lastFailures  = 8 // tests that failed
	failuresOfRun = 4 // of one result
)

// errors writes the tests that failed in the newest run of each command, and
// the line of the error of the newest results that hold one, in their order:
// what failed last is what an agent is most likely to be at. It returns the
// tokens spent.
func (d *digest) errors(room int) (spent int) {
	var lines []string
	seen := map[string]bool{} // commands that were run again
	failed, wrong := 0, 0
	add := func(line string, s *source) bool {
		if d.told[line] {
			return false
		}
		line = "error: " + line
		if s.call != nil && s.call.command != "" {
			line += " (" + quoted(s.call.subject(), 60) + ")"
		}
		n := d.cost(line + "\n")
		if n > room-spent || slices.Contains(lines, line+"\n") {
			return false
		}
		spent += n
		lines = append(lines, line+"\n")
		return true
	}
	for i := range slices.Backward(d.sources) {
		s := &d.sources[i]
		if !s.role.Result() || failed >= lastFailures && wrong >= lastErrors || room-spent < 8 {
			continue
		}
		again := false
		if s.call != nil {
			run := s.call.name()
			again = seen[run]
			seen[run] = true
		}
		if again {
			continue
		}
		tests := failures(s.text)
		for _, line := range slices.Backward(tests) {
			if failed < lastFailures && add(line, s) {
				failed++
			}
		}
		if line, ok := errorLine(s.text); ok && len(tests) == 0 && wrong < lastErrors && add(quoted(line, errorChars), s) {
			wrong++
		}
	}
	d.backward(lines)
	return spent
}

// failureWords are how test runners begin the line of a test that failed, or
// end it.
var failureWords = []string{"--- FAIL: ", "FAILED ", "not ok ", "✕ ", "✗ ", "✘ ", "● ", "... FAILED", "FAIL: "}

// failures returns the first lines of a text that name a test that failed, each
// with the line behind it where that tells the place.
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
		if trimmed := strings.TrimSpace(line); !startsWithAny(trimmed, failureWords) && !strings.HasSuffix(trimmed, "... FAILED") || !hasName(line) {
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

func startsWithAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(s, w) })
}

// hasName reports whether something is named in a text.
func hasName(text string) (found bool) {
	names(text, func(int, int) { found = true })
	return found
}

// sharesName reports whether one of the texts names what a text names.
func sharesName(text string, texts []string) (shared bool) {
	names(text, func(from, to int) {
		shared = shared || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, text[from:to]) })
	})
	return shared
}

const (
	conclusionChars = 240
	leastConclusion = 24
)

// conclusions writes what the assistant concluded: the last sentences of what it
// said that name something, of an answer without calls the last in any case,
// and the notes that it wrote; the newest that fit, in their order. It returns
// the tokens spent.
func (d *digest) conclusions(room int) (spent int) {
	var lines []string
	misses := 0
	for i := range slices.Backward(d.lost) {
		if room-spent < 8 || misses > mostMisses {
			break
		}
		m := &d.lost[i]
		if m.Role != compact.Assistant {
			continue
		}
		var said []string
		for c := range d.actions[i] {
			if a := &d.actions[i][c]; a.path == "" && strings.Contains(a.command, ">>") && len(a.command) <= conclusionChars {
				said = append(said, quoted(a.command, conclusionChars))
			}
		}
		if text := conclusion(textOf(m), len(m.Calls) == 0); text != "" && !sharesName(text, said) {
			said = append(said, text)
		}
		for _, text := range slices.Backward(said) {
			line := "concluded: " + text + "\n"
			if n := d.cost(line); n <= room-spent && !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, strings.TrimRight(text, ".")) }) {
				spent += n
				lines = append(lines, line)
			} else {
				misses++
			}
		}
	}
	d.backward(lines)
	return spent
}

// conclusion is the end of what an assistant said, as far as it says something.
func conclusion(text string, last bool) string {
	if len(text) > 4*conclusionChars {
		text = strings.ToValidUTF8(text[len(text)-4*conclusionChars:], "")
		if i := strings.IndexAny(text, " \n"); i >= 0 {
			text = text[i+1:]
		}
	}
	for end := len(strings.TrimRight(text, " \n")); end > 0; {
		from := max(sentenceEnd(text[:end-1]), strings.LastIndexByte(text[:end-1], '\n')+1)
		if s := text[from:end]; len(s) >= leastConclusion && (last || hasName(s)) {
			return OneLine(s, conclusionChars)
		}
		end = len(strings.TrimRight(text[:from], " \n"))
	}
	return ""
}

// sentenceEnd is the place behind the last sentence that ends in a text; 0 where
// none does. The stop of a number in a list ends none.
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
