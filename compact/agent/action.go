// Package agent knows the forms in which agents write: what a call does, by the name of its tool
// and by its arguments, also those of a shell; what it returned, without what harnesses put around
// it; how it ended; and which words of a message are the user's. It knows no conversation. Its
// results depend only on the texts that are given, and the time is linear in their length.
package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"laconic/compact/quote"
)

// A Kind says what a call does.
type Kind uint8

const (
	Other Kind = iota // another tool: its result is data
	Reads
	Searches
	Runs    // a command
	Edits   // files
	Asks    // the user
	Plans   // puts a plan to the user
	Reports // to the user
	Tracks  // keeps a list of what is to do
	Sends   // another agent to work
)

// An Action is what a call does, as far as its arguments say.
type Action struct {
	Kind    Kind
	Tool    string
	Verb    string // what it does, by its name or by the command of an editor, as small words
	Path    string // the file
	others  int    // further files
	Command string
	folder  string // in which it begins, from that of the session
	Moves   bool   // it goes to another one
	Query   string // what is searched for
	Text    string // what a plan or a report says
	Values  Value  // the arguments
	Changes []Change

	Shows bool // the command only shows how things are
	mute  bool // it prints nothing if it works
}

// A Change is what an action does to a file.
type Change struct {
	Path     string
	Old, New string // the text that is replaced, and its replacement
	How      How
	All      bool // each place
	last     bool // of the last command of those that stop at one that fails
}

// A How says how a file is changed.
type How uint8

const (
	Replaced How = iota // old became new
	Written             // new is the whole file
	Changed             // nobody knows how: nothing that is known of it holds
	Restored            // to what git has
	Removed
	Touched // perhaps
)

// EveryFile is the path of a change to any file: nobody knows what is in them after it.
const EveryFile = "."

// Lengths, in bytes.
const (
	NameChars = 72  // up to which a name of a call has no names of arguments
	ToldChars = 900 // of a command or an argument that a name has
	LeastLine = 120 // of a line of a result that has several members
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

// beside are arguments in which agents tell their user of the work: the tool does nothing with them.
var beside = setOf("taskprogress toolaction toolsummary")

// ActionOf returns what a call does. Its arguments are JSON, or the text of a custom tool.
func ActionOf(tool, arguments string) *Action { return actionOf(tool, valueOf(arguments)) }

func actionOf(tool string, arguments Value) *Action {
	for n := 0; arguments.kind == '{' && len(arguments.list) == 1 && arguments.list[0].kind == '{' && (n == 0 || arguments.keys[0] == "file"); n++ {
		arguments = arguments.list[0] // all in one object
	}
	for i := len(arguments.keys) - 1; i >= 0; i-- {
		if beside[plainKey(arguments.keys[i])] && len(arguments.keys) > 1 {
			arguments.keys, arguments.list = slices.Delete(arguments.keys, i, i+1), slices.Delete(arguments.list, i, i+1)
		}
	}
	a := &Action{Tool: tool, Verb: strings.ToLower(camel.ReplaceAllString(tool, "${1}_$2")), Values: arguments}
	if v := &a.Values; v.kind == '"' { // a custom tool: the argument is a text
		if a.patches(v.Text, ""); len(a.Changes) == 0 {
			a.Query = v.Text
		}
	}
	a.take(&a.Values, "")
	if a.classify(); a.Values.Member("dryrun") == "true" {
		a.Kind, a.Changes = Other, nil
	}
	return a
}

// take takes what the members of an object say. within is the path of the object
// around it.
func (a *Action) take(v *Value, within string) {
	got := map[string]string{"path": within}
	for i := range v.list {
		m, use := &v.list[i], arguments[plainKey(v.keys[i])]
		text := m.Text
		if use == "command" && m.kind == '[' {
			text = commandOf(m, plainKey(v.keys[i]) == "commands")
		} else if m.kind != '"' || use == "path" && v.Member("op") != "" { // a patch of JSON has no file
			continue
		}
		if before, had := got[use]; !had || before == within {
			got[use] = text
		}
	}
	path := got["path"]
	if c := got["command"]; path != "" && editorCommands[c] { // one tool does all that an editor does
		a.Verb, got["command"] = c, ""
	} else if path != "" && c == v.Member("code") && writes.MatchString(a.Verb) { // for a file, with gaps
		got["command"] = ""
	}
	if a.Path != "" && path != within && a.Path != path {
		a.others++
	}
	a.Path, a.Command, a.Query = cmp.Or(a.Path, path), cmp.Or(a.Command, got["command"]), cmp.Or(a.Query, got["query"])
	old, hasOld := got["old"]
	text, hasNew := got["new"]
	switch {
	case v.Member("type") == "delete_file", within == "" && deletesFile.MatchString(a.Verb):
		a.add(Change{Path: path, How: Removed})
	case hasNew && (hasOld || strings.Contains(a.Verb, "insert")):
		n := v.Member("replaceall expectedreplacements allowmultiple")
		a.add(Change{Path: path, Old: old, New: text, All: n != "" && n != "1" && n != "false"})
	case searchBlock.MatchString(got["content"]):
		a.patches(got["content"], path)
	case got["content"] != "" && a.Query == "" && writes.MatchString(a.Verb):
		c := Change{Path: path, New: got["content"], How: Written}
		if m := v.Member("append mode"); m == "true" || m == "a" || m == "append" || strings.Contains(a.Verb, "append") {
			c.How = Replaced
		} else if ofLines.MatchString(v.Member("start startline") + "–" + v.Member("end endline")) {
			c.How = Changed
		}
		a.add(c)
	}
	for i := range v.list {
		if m := &v.list[i]; m.kind == '"' && arguments[plainKey(v.keys[i])] == "" {
			a.patches(m.Text, path)
		} else {
			a.take(m, path)
		}
	}
}

// commandOf returns the command that a list of words or of commands is: only
// COMMAND of bash -lc COMMAND.
func commandOf(v *Value, several bool) string {
	var words []string
	v.Each(func(word string) { words = append(words, word) })
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") {
		return words[2]
	}
	return strings.Join(words, map[bool]string{true: "\n", false: " "}[several])
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// Name returns what a call does, and to what, on one line of about n bytes. Files below root are
// named from there. It says of a trial that it is one, also where that is cut.
func (a *Action) Name(n int, root string) string {
	by, what := verbs[a.Kind], ""
	switch {
	case a.Kind == Asks, a.Kind == Plans, a.Kind == Reports:
		return by
	case a.Tool == "" && a.Kind == Other:
		return "result of a tool"
	case a.Command != "":
		what = a.brief()
		if what = strings.ReplaceAll(what, "\n", quote.LineMark); a.Kind == Runs && a.inNotebook() {
			by = ""
		} else if a.Kind >= Reads && a.Kind <= Edits {
			by = verbs[Runs]
		}
	case a.Kind == Edits:
		for i := range a.Changes {
			if c := &a.Changes[i]; i == 0 || c.Path != a.Changes[i-1].Path {
				what = quote.Joined(what, ", ", From(root, c.Path))
			}
		}
		switch {
		case len(a.Changes) == 0, slices.ContainsFunc(a.Changes, func(c Change) bool { return c.How != a.Changes[0].How }):
		case a.Changes[0].How == Removed:
			by = "delete"
		case a.Changes[0].How == Written:
			by = "write"
		}
	case a.Kind == Sends:
		what = cmp.Or(a.Values.Member("description"), a.Values.Member("prompt prompt1"))
	case a.Kind == Reads, a.Query != "" && (a.Kind != Other || len(a.Values.list) == 1):
		path := a.Path
		if a.Tool != "" { // else it is a name for what is attached
			path = From(root, path)
		}
		what = quote.Joined(a.Query, " in ", quote.Joined(a.Values.Member("glob include includepattern filepattern type"), " of ", path))
		if a.others > 0 {
			what += " and " + quote.Count(a.others, "other")
		}
	default:
		for i := 0; i < len(a.Values.list) && len(what) <= 2*n; i++ {
			if a.Values.repeats(i) {
				continue
			}
			name := a.Values.keys[i] + ": "
			if n <= NameChars { // among others on a line
				name = ""
			}
			what = quote.Joined(what, ", ", name+quote.First(a.Values.list[i].short(), ToldChars))
		}
	}
	if by == "" || a.Kind == Searches && a.Command == "" { // the tool's own name
		by = quote.OneLine(a.Tool, 64)
	}
	name := strings.TrimSpace(quote.Line(by + " " + quote.OneLine(what, n)))
	if strings.HasSuffix(name, "…") && !tried.MatchString(name) && tried.MatchString(a.begins()) {
		name += " (dry run)"
	}
	if a.Values.Member("sandboxpermissions") == "require_escalated" || a.Values.Member("withescalatedpermissions") == "true" {
		name += " (escalated)"
	}
	if a.folder != "" {
		name = "(in " + quote.OneLine(cmp.Or(strings.TrimSuffix(a.folder, "/"), "/"), 200) + ") " + name
	}
	return name
}

// begins returns the first command of a call, or what else it was given.
func (a *Action) begins() string {
	if a.Command == "" {
		return a.Values.Text
	}
	line, _ := a.commands()
	return line[:strings.IndexAny(line+"\n", "&;|\n")]
}

// verbs are what a record calls the kinds of calls.
var verbs = [...]string{Reads: "read", Searches: "search", Runs: "$", Edits: "edit", Asks: "asked the user", Plans: "plan", Reports: "said at the end", Sends: "agent sent:"}

// tried finds that a step changes nothing, and only shows what it would do.
var tried = regexp.MustCompile(`(?i)--dry-run(?:=(?:server|client|true))?(?:$|[\s"'])|\bdry_?run"?\s*[:=]\s*"?true\b|--(?:check|no-?op|simulate)\b|-WhatIf\b`)

// WaitsFor reports whether a call only waits for the command of a session of Codex, if there is one.
func (a *Action) WaitsFor(session string) bool {
	return session != "" && a.Values.Member("chars") == "" && a.Values.Member("sessionid") == session
}

// IsComment reports whether a line of code only explains it or names what it needs.
func IsComment(line string) bool { return comment.MatchString(line) }

var comment = regexp.MustCompile("^(?:\"[\\w./@-]+\"$|//|#|/?\\*|\"\"\"|'''|--|<!--|(?:import|from|package|use|using|@import) )")

var (
	// editorCommands are what an editor with one name is told to do.
	editorCommands = setOf("view create write insert str_replace undo_edit replace edit read delete")
	// interpreter finds that a program runs a here-document.
	interpreter = regexp.MustCompile(`(?:^|[\s/])(?:` + interpreters + `|psql|sqlite3|mysql)\b[^|>]*<<`)
	// ofLines finds that a text is put in place of some lines of a file, between their numbers.
	ofLines = regexp.MustCompile(`^\d*–[1-9]\d*$|^(?:[2-9]|\d\d+)–`)
)
