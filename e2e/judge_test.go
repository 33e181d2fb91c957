package e2e

import (
	"regexp"
	"slices"
	"strings"

	"laconic/demo/strict"
)

// judge reads what the upstream accepted as the model would read it, beside
// what the client sent.
type judge struct {
	facts
	sent  strings.Builder // all that the client sent so far, in plain text
	taken int             // messages of the client that are in sent
	shown map[string]bool // facts that the client has sent
	real  map[string]bool // names that were found in sent
	none  map[string]int  // the others, and how far sent was searched
}

func newJudge(f facts) *judge {
	return &judge{facts: f, shown: map[string]bool{}, real: map[string]bool{}, none: map[string]int{}}
}

// verdict is what one accepted request shows. A share is -1 where there is
// nothing to judge.
type verdict struct {
	folded     bool // a result is no longer whole
	newest     state
	port, test float64
	rule       float64
	trail      float64
	names      float64
	canReport  bool
	notReal    []string // some of the names that do not occur
}

// state is what became of the newest result.
type state string

const (
	whole state = "whole"
	cut   state = "cut" // its head and its tail are there
	gone  state = "gone"
	none  state = "" // there is none
)

// look judges one request: sent by the client, got by the upstream, done are
// the files written or edited so far.
func (j *judge) look(sent, got []strict.Message, done []string) verdict {
	for _, m := range sent[min(j.taken, len(sent)):] {
		j.sent.WriteString(plain(m.Text) + "\n")
		for _, c := range m.Calls {
			j.sent.WriteString(c.Name + "\n" + plain(c.Arguments) + "\n")
		}
	}
	j.taken = max(j.taken, len(sent))
	text := reading(got)
	v := verdict{newest: newest(sent, got), port: -1, test: -1, rule: -1, trail: -1}
	v.names, v.notReal = j.realNames(got)
	for _, m := range sent {
		v.folded = v.folded || m.Role == "tool" && !holds(got, m.Text)
	}
	if j.shows(j.port) {
		v.port = share(portIn(text, j.port))
	}
	if j.shows(j.test) {
		v.test = share(strings.Contains(text, j.test))
	}
	if j.shows(j.rules[0]) {
		v.rule = 0
		for _, rule := range j.rules {
			v.rule += share(strings.Contains(text, squeezed(rule))) / float64(len(j.rules))
		}
	}
	if len(done) > 0 {
		there := 0
		for _, path := range done {
			there += int(share(changed(text, got, path)))
		}
		v.trail = float64(there) / float64(len(done))
	}
	v.canReport = v.port == 1 && v.test == 1
	return v
}

func share(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// changes are words that say of a file that it was changed.
var changes = regexp.MustCompile(`(?i)\b(?:writ|wrote|edit|replac|chang|patch|creat|updat|modif)`)

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
	heading := ""
	for line := range strings.Lines(text) {
		if strings.Contains(line, path) && (changes.MatchString(line) || changes.MatchString(heading)) {
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
		j.shown[fact] = strings.Contains(squeezed(j.sent.String()), squeezed(fact))
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

// realNames is the share of the names of the record's lists that occur in what
// the client sent, and some of those that do not.
func (j *judge) realNames(got []strict.Message) (float64, []string) {
	all, found := 0, 0
	var wrong []string
	for _, m := range got {
		if m.Role == "tool" || m.Role == "assistant" {
			continue
		}
		for _, list := range nameList.FindAllStringSubmatch(m.Text, -1) {
			for _, name := range strings.Fields(list[1]) {
				all++
				if j.isReal(name) {
					found++
				} else if len(wrong) < 8 {
					wrong = append(wrong, name)
				}
			}
		}
	}
	if all == 0 {
		return -1, nil
	}
	return float64(found) / float64(all), wrong
}

// rangeMark stands between the ends of a run that is written as one entry.
var rangeMark = regexp.MustCompile(`…|\.\.+|–`)

// isReal reports whether a name, or both ends of a run, were sent.
func (j *judge) isReal(name string) bool {
	if j.wasSent(name) {
		return true
	}
	ends := rangeMark.Split(name, -1)
	return len(ends) > 1 && !slices.ContainsFunc(ends, func(end string) bool { return end != "" && !j.wasSent(end) })
}

// wasSent searches only what came since it searched the last time.
func (j *judge) wasSent(name string) bool {
	if !j.real[name] {
		sent := j.sent.String()
		j.real[name] = occurs(sent, name, max(0, j.none[name]-len(name)))
		j.none[name] = len(sent)
	}
	return j.real[name]
}
