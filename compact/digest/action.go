package digest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"laconic/compact"
)

// kind says what a call does.
type kind uint8

const (
	other kind = iota
	reads
	searches
	runs    // a command
	edits   // files
	asks    // the user
	plans   // puts a plan to the user
	reports // to the user
	tracks  // keeps a list of what is to do
	sends   // another agent to work
)

// An action is what a call does, as far as its arguments say.
type action struct {
	kind    kind
	tool    string
	verb    string // what it does, by its name or by the command of an editor, as small words
	path    string // the file
	others  int    // further files
	command string
	query   string // what is searched for
	text    string // what a plan or a report says
	values  value  // the arguments
	changes []change

	shows bool // the command only shows how things are
	mute  bool // it prints nothing if it works
}

// A change is what an action does to a file.
type change struct {
	path     string
	old, new string // the text that is replaced, and its replacement
	how      how
	all      bool // each place
	last     bool // of the last command of those that stop at one that fails
}

type how uint8

const (
	replaced how = iota // old became new
	written             // new is the whole file
	changed             // nobody knows how: nothing that is known of it holds
	removed
	touched // perhaps
)

// everyFile is the path of a change to any file: nobody knows what is in them after it.
const everyFile = "."

// Lengths, in bytes.
const (
	nameChars = 72  // up to which a name of a call has no names of arguments
	toldChars = 900 // of a command or an argument that a name has
	leastLine = 120 // of a line of a result that has several members
)

// arguments says what arguments are for, by the names that agents give them, without
// marks. In one that is not listed may be a patch.
var arguments = byWord(map[string]string{
	"path": "path filepath filename file targetfile absolutepath relativepath relativeworkspacepath notebookpath targetpath uri " +
		"dirpath directory",
	"command": "command cmd script code commandline commands",
	"query":   "pattern query regex regexp searchterm searchpattern q",
	"old":     "old oldstring oldstr oldtext search original find before",
	"new":     "new newstring newstr newtext replace replacement updated inserttext after newsource",
	"content": "content contents filetext filecontent newcontent text body",
})

// plainKey returns the name of an argument without its style: file_path and
// filePath become filepath.
func plainKey(key string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(key, "_", ""), "-", ""))
}

// actionOf returns what a call does.
func actionOf(tool string, arguments value) *action {
	if arguments.kind == '{' && len(arguments.list) == 1 && arguments.list[0].kind == '{' { // all in one object
		arguments = arguments.list[0]
	}
	a := &action{tool: tool, verb: strings.ToLower(camel.ReplaceAllString(tool, "${1}_$2")), values: arguments}
	if v := &a.values; v.kind == '"' { // a custom tool: the argument is a text
		if a.patches(v.text, ""); len(a.changes) == 0 {
			a.query = v.text
		}
	}
	a.take(&a.values, "")
	if a.classify(); a.values.member("dryrun") == "true" {
		a.kind, a.changes = other, nil
	}
	return a
}

// take takes what the members of an object say. within is the path of the object
// around it.
func (a *action) take(v *value, within string) {
	got := map[string]string{"path": within}
	for i := range v.list {
		m, use := &v.list[i], arguments[plainKey(v.keys[i])]
		text := m.text
		if use == "command" && m.kind == '[' {
			text = commandOf(m, plainKey(v.keys[i]) == "commands")
		} else if m.kind != '"' || use == "path" && v.member("op") != "" { // a patch of JSON has no file
			continue
		}
		if before, had := got[use]; !had || before == within {
			got[use] = text
		}
	}
	path := got["path"]
	if c := got["command"]; path != "" && editorCommands[c] { // one tool does all that an editor does
		a.verb, got["command"] = c, ""
	} else if path != "" && c == v.member("code") && writes.MatchString(a.verb) { // for a file, with gaps
		got["command"] = ""
	}
	if a.path != "" && path != within && a.path != path {
		a.others++
	}
	a.path, a.command, a.query = cmp.Or(a.path, path), cmp.Or(a.command, got["command"]), cmp.Or(a.query, got["query"])
	old, hasOld := got["old"]
	text, hasNew := got["new"]
	switch {
	case v.member("type") == "delete_file", within == "" && deletesFile.MatchString(a.verb):
		a.add(change{path: path, how: removed})
	case hasOld && hasNew:
		n := v.member("replaceall expectedreplacements allowmultiple")
		a.add(change{path: path, old: old, new: text, all: n != "" && n != "1" && n != "false"})
	case hasNew && strings.Contains(a.verb, "insert"):
		a.add(change{path: path, new: text})
	case searchBlock.MatchString(got["content"]):
		a.patches(got["content"], path)
	case got["content"] != "" && a.query == "" && writes.MatchString(a.verb):
		a.add(change{path: path, new: got["content"], how: written})
	}
	for i := range v.list {
		if m := &v.list[i]; m.kind == '"' && arguments[plainKey(v.keys[i])] == "" {
			a.patches(m.text, path)
		} else {
			a.take(m, path)
		}
	}
}

// commandOf returns the command that a list of words or of commands is: only
// COMMAND of bash -lc COMMAND.
func commandOf(v *value, several bool) string {
	var words []string
	v.each(func(word string) { words = append(words, word) })
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") {
		return words[2]
	}
	return strings.Join(words, map[bool]string{true: "\n", false: " "}[several])
}

// member returns the text of the first member with one of some names, which are without
// style, or "".
func (v *value) member(names string) string {
	list := strings.Fields(names)
	for i, k := range v.keys {
		if slices.Contains(list, plainKey(k)) && (v.list[i].kind == '"' || v.list[i].text != "null") {
			return v.list[i].text
		}
	}
	return ""
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// name returns what a call does, and to what, on one line of about n bytes. Files below root are
// named from there. It says of a trial that it is one, also where that is cut.
func (a *action) name(n int, root string) string {
	by, what, first := verbs[a.kind], "", a.values.text
	switch {
	case a.kind == asks, a.kind == plans, a.kind == reports:
		return by
	case a.tool == "" && a.kind == other:
		return "result of a tool"
	case a.command != "":
		what = a.brief()
		first = what[:strings.IndexAny(what+"\n", "&;|\n")]
		if what = strings.ReplaceAll(what, "\n", lineMark); a.kind == runs && a.inNotebook() {
			by = ""
		} else if a.kind == edits {
			by = verbs[runs]
		}
	case a.kind == edits:
		for i := range a.changes {
			if c := &a.changes[i]; i == 0 || c.path != a.changes[i-1].path {
				what = joined(what, ", ", strings.TrimPrefix(c.path, root))
			}
		}
		if len(a.changes) > 0 && !slices.ContainsFunc(a.changes, func(c change) bool { return c.how != removed }) {
			by = "delete"
		}
	case a.kind == sends:
		what = cmp.Or(a.values.member("description"), a.values.member("prompt"))
	case a.kind == reads, a.query != "" && (a.kind != other || len(a.values.list) == 1):
		what = joined(a.query, " in ", joined(a.values.member("glob include includepattern filepattern type"), " of ", strings.TrimPrefix(a.path, root)))
		if a.others > 0 {
			what += " and " + count(a.others, "other")
		}
	default:
		for i := 0; i < len(a.values.list) && len(what) <= 2*n; i++ {
			name := a.values.keys[i] + ": "
			if n <= nameChars { // among others on a line
				name = ""
			}
			what = joined(what, ", ", name+firstBytes(a.values.list[i].short(), toldChars))
		}
	}
	if by == "" || a.kind == searches && a.command == "" { // the tool's own name
		by = OneLine(a.tool, 64)
	}
	name := strings.TrimSpace(bar(quoted(by + " " + OneLine(what, n))))
	if strings.HasSuffix(name, "…") && !tried.MatchString(name) && tried.MatchString(first) {
		name += " (dry run)"
	}
	return name
}

// verbs are what a record calls the kinds of calls.
var verbs = [...]string{reads: "read", searches: "search", runs: "$", edits: "edit", asks: "asked the user", plans: "plan", reports: "said at the end", sends: "agent sent:"}

// tried finds that a step changes nothing, and only shows what it would do.
var tried = regexp.MustCompile(`(?i)--dry-run(?:=(?:server|client|true))?(?:$|[\s"'])|\bdry_?run"?\s*[:=]\s*"?true\b|--(?:check|no-?op|simulate)\b|-WhatIf\b`)

// brief returns a command without the folder that it goes to, comments and here-documents, but
// for what a program runs.
func (a *action) brief() string {
	command, docs := heredocs(strings.TrimSpace(a.command))
	for _, d := range docs {
		if interpreter.MatchString(d[0]) && len(command) < toldChars { // no label shows more
			command += "\n" + firstBytes(d[1], toldChars)
		}
	}
	lines := slices.DeleteFunc(strings.Split(command, "\n"), func(l string) bool { return l == "" || isComment(l) })
	command = cmp.Or(strings.Join(lines, "\n"), command)
	return strings.TrimSpace(strings.ReplaceAll(command[len(intoFolder.FindString(command)):], " 2>&1", ""))
}

// waitsFor returns the session of Codex whose command a call only waits for, or "".
func (a *action) waitsFor() string {
	if a.values.member("chars") != "" {
		return ""
	}
	return a.values.member("sessionid")
}

// movesFirst reports whether a command goes to another folder before all else.
func (a *action) movesFirst() bool { return intoFolder.MatchString(a.command) }

// comment finds the lines of code that only explain it or name what it needs.
var comment = regexp.MustCompile("^(?:\"[\\w./@-]+\"$|//|#|/?\\*|\"\"\"|'''|--|<!--|(?:import|from|package|use|using|@import) )")

// isComment reports whether a line of code only explains it or names what it needs.
func isComment(line string) bool { return comment.MatchString(line) }

var (
	// editorCommands are what an editor with one name is told to do.
	editorCommands = setOf("view create write insert str_replace undo_edit replace edit read delete")
	// interpreter finds that a program runs a here-document.
	interpreter = regexp.MustCompile(`(?:^|[\s/])(?:python[\d.]*|node|ruby|perl|php|bash|sh|psql|sqlite3|mysql)\b[^|>]*<<`)
	// intoFolder finds that a command first goes to a folder.
	intoFolder = regexp.MustCompile(`^cd [^\n]*?&& `)
)

// DescribeCall returns what a call does, on one line: read src/a.go.
func DescribeCall(c *compact.Call) string {
	return actionOf(c.Name, valueOf(c.Arguments.String())).name(120, "")
}
