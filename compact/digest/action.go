package digest

import (
	"strings"

	"laconic/compact"
)

// action describes what a call reads, runs or writes, as far as its arguments
// say.
type action struct {
	tool      string
	path      string   // the file in its arguments
	command   string   // the command that it runs
	query     string   // what it searches for
	other     string   // its first argument, if it has none of the above
	rest      string   // short values of the other arguments, on one line
	count     int      // of its arguments
	edits     bool     // an argument holds text to write
	text      string   // the first text to write
	arguments string   // as they were sent
	shown     string   // the arguments, on one line
	written   []string // the files that it writes
	named     string   // see name
	// For calls that left:
	number int // of the source of its arguments
	result *source
	lined  string // see line
}

// How much of an argument is read, and how much is recorded.
const (
	argBytes     = 2048
	subjectChars = 120
	restChars    = 120
	briefChars   = 60
)

// actionOf returns what a call does, and its arguments.
func actionOf(c *compact.Call) (a *action, arguments string) {
	arguments = c.Arguments.String()
	a = argumentsOf(arguments)
	a.arguments = arguments
	a.tool, a.shown = c.Name, quote(arguments, argChars)
	a.written = a.writes()
	return a, arguments
}

// argumentsOf reads the arguments of a call.
func argumentsOf(text string) *action {
	a := &action{}
	r := scanner{s: text}
	if r.skip(); r.at >= len(r.s) || r.s[r.at] != '{' {
		a.other = firstBytes(strings.TrimSpace(text), argBytes)
		return a
	}
	r.at++
	for r.skip(); r.at < len(r.s) && r.s[r.at] == '"'; {
		key, _ := r.str()
		if r.skip(); r.at >= len(r.s) || r.s[r.at] != ':' {
			break
		}
		r.at++
		r.skip()
		value, number := r.argument()
		a.take(key, value, number)
		if r.skip(); r.at >= len(r.s) || r.s[r.at] != ',' {
			break
		}
		r.at++
		r.skip()
	}
	return a
}

// take adds one argument. number is true if its value is not a text.
func (a *action) take(key, value string, number bool) {
	if value == "" {
		return
	}
	a.count++
	kind := argumentKinds[plainKey(key)]
	var to *string
	switch kind {
	case aPath:
		to = &a.path
	case aCommand:
		to = &a.command
	case aQuery:
		to = &a.query
	case aText:
		a.edits = true
		if a.text == "" {
			a.text = value
		}
	}
	switch {
	case to != nil && *to == "" && !number:
		*to = value
		return
	case number:
		if a.other == "" {
			a.other = value
		}
		return
	case kind == 0:
		a.nested(value)
		if a.other == "" {
			a.other = value
		}
	}
	if room := restChars - len(a.rest); room > 16 {
		a.rest += " " + quote(value, room/2)
	}
}

// nested reads the first object of a list, or an object: {"files": [{"path":
// "a.go"}]}.
func (a *action) nested(value string) {
	object := strings.TrimLeft(value, "[ \t\r\n")
	if a.path+a.command+a.query != "" || !strings.HasPrefix(object, "{") {
		return
	}
	inner := argumentsOf(object)
	a.path, a.command, a.query = inner.path, inner.command, inner.query
}

// plainKey returns the name of an argument without its style: file_path and
// filePath become filepath.
func plainKey(key string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(key, "_", ""), "-", ""))
}

const (
	aPath = iota + 1
	aCommand
	aQuery
	aText
)

// argumentKinds maps the names that agents give to arguments.
var argumentKinds = func() map[string]int {
	kinds := map[string]int{}
	for kind, names := range map[int]string{
		aPath:    "path filepath filename file targetfile absolutepath relativeworkspacepath notebookpath targetpath uri",
		aCommand: "command cmd script code commandline",
		aQuery:   "pattern query regex regexp searchterm searchpattern",
		aText:    "content contents filetext oldstring newstring oldstr newstr patch diff edits input newcontent insertline codeedit",
	} {
		for _, n := range strings.Fields(names) {
			kinds[n] = kind
		}
	}
	return kinds
}()

// subject returns what an action is about, in a few words: the file, the
// command, what was searched for and where.
func (a *action) subject() string {
	s := a.other
	switch {
	case a.query != "" && a.path != "":
		s = a.query + " in " + a.path
	case a.query != "":
		s = a.query
	case a.path != "":
		s = a.path
	case a.command != "":
		s = a.command
	}
	return quote(s, subjectChars)
}

// whole reports whether the subject says all that the arguments say.
func (a *action) whole() bool {
	return a.count <= 1 || a.count == 2 && a.query != "" && a.path != ""
}

// brief returns what an action is about, in fewer words: of a command its first
// line, without the folder that it goes to.
func (a *action) brief() string {
	if a.command == "" || a.query+a.path != "" {
		return a.subject()
	}
	command := strings.TrimSpace(firstBytes(a.command, 4*briefChars))
	if strings.HasPrefix(command, "cd ") {
		if i := strings.Index(command, "&& "); i > 0 && i < briefChars {
			command = command[i+3:]
		}
	}
	for _, end := range []string{"\n", "<<", " && ", " 2>&1"} {
		if i := strings.Index(command, end); i > 0 {
			command = command[:i]
		}
	}
	return OneLine(command, briefChars)
}

// reads reports whether an action shows a file.
func (a *action) reads() bool {
	if a.path != "" {
		return a.query == "" && len(a.written) == 0
	}
	first, _, _ := strings.Cut(strings.TrimSpace(a.command), " ")
	switch first {
	case "cat", "head", "tail", "less", "more", "bat", "nl":
		return true
	}
	return false
}

// name returns the tool and its subject: read_file src/a.go.
func (a *action) name() string {
	if a.named == "" {
		a.named = strings.TrimSpace(quote(a.tool, 64) + " " + a.subject())
	}
	return a.named
}

// firstBytes returns at most n bytes of a text, cut between characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// DescribeCall returns the tool of a call and what the call is about, on one
// line: read_file src/a.go.
func DescribeCall(c *compact.Call) string {
	a, _ := actionOf(c)
	return withoutMarks(a.name())
}
