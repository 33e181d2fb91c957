package e2e

import (
	"encoding/json"
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
}

func newJudge(f facts) *judge {
	return &judge{facts: f, shown: map[string]bool{}, real: map[string]bool{}}
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

func isCut(got, sent string) bool {
	got, sent = readable(got), strings.TrimSpace(plain(sent))
	sent = readable(sent)
	return len(sent) > 2*edge && strings.Contains(got, sent[:edge]) && strings.Contains(got, sent[len(sent)-edge:])
}

// nameList is a line of the record that lists bare names. That a name stands in
// such a list tells a model nothing of a port, a test or a file.
var nameList = regexp.MustCompile(`(?m)^(?:[a-z]+ )?(?:names|numbers|paths|words)(?: [a-z ]+)?: (.*)$`)

// reading is the text of a request as a model reads it: escapes undone, white
// space as one blank but for the ends of lines, lists of names left out.
func reading(got []strict.Message) string {
	var b strings.Builder
	for _, m := range got {
		text := m.Text
		if m.Role != "tool" {
			text = nameList.ReplaceAllString(text, "")
		}
		b.WriteString(squeezed(readable(text)) + "\n")
		for _, c := range m.Calls {
			b.WriteString(c.Name + " " + squeezed(readable(c.Arguments)) + "\n")
		}
	}
	return b.String()
}

// readable undoes the escapes of JSON, also those of a text that was cut.
func readable(text string) string { return escapes.Replace(text) }

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`)

// squeezed makes one blank of every run of blanks, and keeps the ends of lines.
func squeezed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

// plain is what a text means: of JSON all strings and values in it, each on
// lines of its own, also of JSON inside of JSON.
func plain(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune(`{["`, rune(trimmed[0])) {
		return text
	}
	d := json.NewDecoder(strings.NewReader(trimmed))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return text
	}
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, plain(v))
		case json.Number:
			all = append(all, v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				all = append(all, k)
				walk(e)
			}
		}
	}
	walk(v)
	return strings.Join(all, "\n")
}

// portIn reports whether a port stands in a text, with the word port before it
// in the same line.
func portIn(text, port string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], port)
		if i < 0 {
			return false
		}
		at += i
		before := text[max(0, at-80):at]
		before = strings.ToLower(before[strings.LastIndexByte(before, '\n')+1:])
		if strings.Contains(before, "port") && !digitAt(text, at-1) && !digitAt(text, at+len(port)) {
			return true
		}
		at += len(port)
	}
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

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
	if j.real[name] {
		return true
	}
	sent := j.sent.String()
	ok := occurs(sent, name)
	if ends := rangeMark.Split(name, -1); !ok && len(ends) > 1 {
		ok = !slices.ContainsFunc(ends, func(end string) bool { return end != "" && !occurs(sent, end) })
	}
	j.real[name] = ok
	return ok
}

// occurs reports whether a name stands in a text as a word.
func occurs(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		if !wordAt(text, at-1) && !wordAt(text, at+len(name)) && (at == 0 || text[at-1] != '\\') {
			return true
		}
		at++
	}
}

func wordAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] >= 0x80)
}
