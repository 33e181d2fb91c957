package survival

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"laconic/demo/strict"
)

// judge reads what the upstream accepted as the model would read it, beside
// what the client sent.
type judge struct {
	facts
	sent  strings.Builder // all that the client sent so far, in plain text, squeezed
	taken int             // messages of the client that are in sent
	shown map[string]bool // facts that the client has sent
}

func newJudge(f facts) *judge { return &judge{facts: f, shown: map[string]bool{}} }

// verdict is what one accepted request shows. A share is not there where there is
// nothing to judge.
type verdict struct {
	folded    bool // a result is no longer whole
	newest    state
	shares    map[int]float64 // by column
	canReport bool
}

// state is what became of the newest result.
type state string

const (
	whole state = "whole"
	cut   state = "cut" // its head and its tail are there
	gone  state = "gone"
	none  state = "" // there is none
)

// look judges one request: sent by the client, got by the upstream. done are the
// files written or edited so far, undone those whose edit failed or was refused.
func (j *judge) look(sent, got []strict.Message, done, undone []string) verdict {
	for _, m := range sent[min(j.taken, len(sent)):] {
		j.sent.WriteString(squeezed(plain(m.Text)) + "\n")
		for _, c := range m.Calls {
			j.sent.WriteString(c.Name + "\n" + squeezed(plain(c.Arguments)) + "\n")
		}
	}
	j.taken = max(j.taken, len(sent))
	text := reading(got)
	v := verdict{newest: newest(sent, got), shares: map[int]float64{}}
	for _, m := range sent {
		v.folded = v.folded || m.Role == "tool" && !holds(got, m.Text)
	}
	// put judges what was shown, if it was.
	put := func(column int, fact string, there bool) {
		if fact != "" && j.shows(fact) {
			v.shares[column] = share(there)
		}
	}
	put(portThere, j.port, portIn(text, j.port))
	failed := failedIn(text, j.test)
	if j.green != "" && j.shows(j.green) {
		v.shares[firstThere] = share(failed)
	} else {
		put(testThere, j.test, failed)
	}
	put(letterThere, j.letter, strings.Contains(text, j.letter))
	put(causeThere, j.cause, inOneLine(text, j.cause, j.of))
	if j.shows(j.rules[0]) {
		for _, rule := range j.rules {
			v.shares[ruleThere] += share(strings.Contains(text, squeezed(rule))) / float64(len(j.rules))
		}
	}
	mean := func(column int, paths []string, right func(path string) bool) {
		for _, path := range paths {
			v.shares[column] += share(right(path)) / float64(len(paths))
		}
	}
	mean(trailThere, done, func(path string) bool { return changed(text, got, path) })
	mean(undoneTold, undone, func(path string) bool { return !saidChanged(got, path) })
	put(reasonThere, j.reason, strings.Contains(text, j.reason))
	v.canReport = v.shares[portThere] == 1 && failed
	return v
}

// failing are words that say of a test that it failed.
var failing = regexp.MustCompile(`(?i)fail|broke|\bred\b|✗|❌`)

// failedIn reports whether a line names a test and says that it failed.
func failedIn(text, test string) bool {
	for line := range strings.Lines(text) {
		if strings.Contains(line, test) && failing.MatchString(strings.ReplaceAll(line, test, "")) {
			return true
		}
	}
	return false
}

// inOneLine reports whether a line has both texts.
func inOneLine(text, a, b string) bool {
	for line := range strings.Lines(text) {
		if strings.Contains(line, a) && strings.Contains(line, b) {
			return true
		}
	}
	return false
}

func share(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// changes are words that say of a file that it was changed, denials those that
// say it was not.
var (
	changes = regexp.MustCompile(`(?i)\b(?:writ|wrote|edit|replac|chang|patch|creat|updat|modif)`)
	denials = regexp.MustCompile(`(?i)\b(?:(?:not|no|never|nothing|unchanged|undone|untouched)\b|fail|refus|reject|declin|denied|error)`)
)

// changed reports whether a request says that a file was written or edited: in
// a call, or in a line that says so or that stands below a heading which does.
func changed(text string, got []strict.Message, path string) bool {
	for _, m := range got {
		for _, c := range m.Calls {
			if strings.Contains(c.Arguments, path) && (changes.MatchString(c.Name) || changes.MatchString(c.Arguments)) {
				return true
			}
		}
	}
	return lineSays(text, path, func(line string) bool { return changes.MatchString(line) })
}

// saidChanged reports whether a request says without a denial that a file was
// changed, elsewhere than in calls and their results.
func saidChanged(got []strict.Message, path string) bool {
	var told []strict.Message
	for _, m := range got {
		if m.Role != "tool" && m.Role != "assistant" {
			told = append(told, m)
		}
	}
	return lineSays(reading(told), path, func(line string) bool {
		line = strings.ReplaceAll(line, path, "")
		return changes.MatchString(line) && !denials.MatchString(line)
	})
}

// lineSays reports whether a line that names a path says something, or the
// heading above it. A path that was told whole may be short after that: …/main.go.
func lineSays(text, path string, says func(line string) bool) bool {
	heading, told := "", false
	for line := range strings.Lines(text) {
		whole := strings.Contains(line, path)
		short := told && strings.Contains(line, "…/"+filepath.Base(path))
		told = told || whole
		if (whole || short) && (says(line) || says(heading+line)) {
			return true
		}
		if strings.HasSuffix(line, ":\n") {
			heading = line
		}
	}
	return false
}

// shows reports whether the client has sent a fact.
func (j *judge) shows(fact string) bool {
	if !j.shown[fact] {
		j.shown[fact] = strings.Contains(j.sent.String(), squeezed(fact))
	}
	return j.shown[fact]
}

// holds reports whether a result is there to the last character.
func holds(got []strict.Message, text string) bool {
	return slices.ContainsFunc(got, func(m strict.Message) bool { return m.Role == "tool" && m.Text == text })
}

// newest is the worst of what became of the results of the newest calls.
func newest(sent, got []strict.Message) state {
	at := len(sent)
	for at > 0 && sent[at-1].Role != "tool" {
		at--
	}
	end := at
	for at > 0 && sent[at-1].Role == "tool" {
		at--
	}
	worst := none
	for _, m := range sent[at:end] {
		state := gone
		if holds(got, m.Text) {
			state = whole
		} else if slices.ContainsFunc(got, func(g strict.Message) bool { return g.Role == "tool" && isCut(g.Text, m.Text) }) {
			state = cut
		}
		if worst == none || worst == whole || worst == cut && state == gone {
			worst = state
		}
	}
	return worst
}

// edge is how many characters of head and tail a cut result must show.
const edge = 40

// isCut reports whether head and tail of a result are there, as it was sent or
// as what is inside of its JSON.
func isCut(got, sent string) bool {
	got = readable(got)
	inside := sent
	if all := texts(sent); len(all) > 0 {
		inside = slices.MaxFunc(all, func(a, b string) int { return len(a) - len(b) })
	}
	for _, s := range []string{readable(sent), inside, readable(inside)} {
		if s = strings.TrimSpace(s); len(s) > 2*edge && strings.Contains(got, s[:edge]) && strings.Contains(got, s[len(s)-edge:]) {
			return true
		}
	}
	return false
}
