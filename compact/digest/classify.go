package digest

import (
	"cmp"
	"regexp"
	"strings"
)

// What tools do to files, by their verbs: others do it to what is in a file, or belongs
// to one.
var (
	camel       = regexp.MustCompile(`([a-z])([A-Z])`)
	writes      = regexp.MustCompile(`write|edit|create|patch|replace|insert|append|rename|(?:^|[^e])move|save|update|modify|apply_diff`)
	deletesFile = regexp.MustCompile(`(?:^|[_.-])(?:delete|remove)(?:_?(?:file|path|dir|directory|folder)s?)?$`)
	readsFile   = regexp.MustCompile(`(?:^|[^a-z])(?:read|view|open|cat|show|get|fetch|peek|inspect|display|load_?file)|contents?$`)
	// effects finds names of tools that do more than to read or to list.
	effects = regexp.MustCompile(`(?:^|[^a-z])(?:mark|archive|publish|grant|send|request|customer|into|create|delete|remove|set|post|notify|close|issue|void|credit|charge|reverse|approve|share|submit|upload|assign|message|cancel|update|buy|book|pay|order|refund|transfer|add|start|stop|reserve|open_(?:ticket|gate|door|issue|order|account))(?:$|[^a-z])`)
	// asking finds names of tools that only ask how things are, and alsoActs those of them that
	// do more.
	alsoActs = regexp.MustCompile(`_(?:and|or)_|check_?(?:in|out)`)
	asking   = regexp.MustCompile(`^(?:\w+?(?:__|[./-]))*(?:get|list|read|fetch|search|find|show|view|check|look_?up|describe|count|calculate|think)(?:_[^_]|$)|_search$`)
	// readsData finds queries of a database, and writesData those that do more than to read.
	readsData  = regexp.MustCompile(`(?is)^\s*(?:select\s.*\bfrom\b|with\s.*\bselect\b)`)
	writesData = regexp.MustCompile(`(?i)\b(?:into|update \S+ set|delete from|(?:create|alter|drop|truncate|grant|revoke|begin|commit|rollback|vacuum|mutation)\s|flush(?:all|db))|\b\w*(?:terminat|cancel|delet|creat|updat|insert|notif|send|exec)\w*\s*\(|^\s*(?:begin|commit|rollback|vacuum)\b`)
)

// asks reports whether a tool only asks how things are. Its name may begin with that of a server.
func (a *action) asks() bool {
	server, verb, _ := strings.Cut(a.verb, "_")
	return (asking.MatchString(a.verb) || asking.MatchString(verb) && !effects.MatchString(server)) && !alsoActs.MatchString(a.verb)
}

// asksData reports whether a call only asks a database. One that writes may keep the query.
func (a *action) asksData() bool {
	query := cmp.Or(a.query, a.values.member("sql"))
	return readsData.MatchString(query) && !writesData.MatchString(query) && !writes.MatchString(a.verb)
}

// mayAct reports whether a call may have an effect.
func (a *action) mayAct() bool {
	switch a.kind {
	case reads, searches, tracks:
		return false
	case runs:
		return !a.shows
	case other:
		if a.asksData() {
			return false
		}
	}
	return writesData.MatchString(a.query) || !a.asks()
}

// inNotebook reports whether the command is the cell of a notebook, which no shell runs.
func (a *action) inNotebook() bool {
	return a.command == a.values.member("code") && !shellTool.MatchString(a.verb+" "+strings.ToLower(a.values.member("language lang type"))) && !shellCell.MatchString(a.command)
}

// shellTool finds a tool or a language that is a shell's, and shellCell a cell that is.
var shellTool, shellCell = regexp.MustCompile(`shell|bash|terminal|\bz?sh\b|\bcmd\b`), regexp.MustCompile(`^\s*%%?(?:ba)?sh\b`)

// classify sets what kind of call it is, from its verb and its arguments.
func (a *action) classify() {
	named := func(parts ...string) bool { return containsAny(a.verb, parts) }
	has := a.values.member
	if readsFile.MatchString(a.verb) && !effects.MatchString(a.verb) { // a page is read as a file is
		a.path = cmp.Or(a.path, has("url"))
	}
	switch {
	case len(a.changes) > 0, a.path == "" && (a.verb == "edit" || a.verb == "insert"): // of the open file
		a.kind = edits
	case has("questions") != "" || named("ask_user", "ask_followup", "request_user_input", "human_input", "ask_human"):
		a.kind = asks
	case has("todos tasklist") != "" || named("todo", "update_plan", "task_tracker", "task_create", "task_update"):
		a.kind = tracks
	case has("plan") != "":
		a.kind, a.text = plans, has("plan")
	case a.verb == "finish" || a.verb == "submit" || named("attempt_completion", "task_complete"):
		a.kind, a.text = reports, has("message result summary text")
	case has("subagenttype") != "", has("prompt") != "" && named("agent", "task"):
		a.kind = sends
	case a.command != "":
		a.kind = runs
		if a.inNotebook() {
			a.script(a.command)
		} else {
			a.shell()
		}
	case a.path == "" && a.query == "":
	case a.path != "" && writes.MatchString(a.verb):
		a.kind, a.changes = edits, append(a.changes, change{path: a.path, how: changed})
	case (writesData.MatchString(a.query) || a.asksData()) && !named("search", "grep", "glob", "find"), effects.MatchString(a.verb) && !a.asks():
	case named("diagnos", "lint", "error", "problem") && !named("read", "view", "open"):
	case a.query != "", named("list", "glob", "grep", "find", "search", "tree"), a.verb == "lsp":
		a.kind = searches
	case readsFile.MatchString(a.verb):
		a.kind = reads
	}
}
