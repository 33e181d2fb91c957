package digest

import (
	"cmp"
	"regexp"
	"strings"
)

// What tools do, by their verbs.
var (
	camel       = regexp.MustCompile(`([a-z])([A-Z])`)
	writes      = regexp.MustCompile(`write|edit|create|patch|replace|insert|append|rename|(?:^|[^e])move|save|update|modify|apply_diff`)
	deletesFile = regexp.MustCompile(`(?:^|[_.-])(?:delete|remove)(?:_?(?:file|path|dir|directory|folder)s?)?$`)
	// asking are words in names of tools that only ask how things are, acting those in names of
	// tools that do something, opens names of tools that open something to read it. alsoActs finds
	// names with a word of asking that do more.
	asking   = setOf("get list read fetch search find show view check look lookup describe count calculate think cat peek inspect display")
	opens    = setOf("open open_file open_page load_file")
	acting   = setOf("add apply approve assign book cancel clear close confirm delete execute mark merge open pay post put remove reset run schedule send set start stop submit transfer trigger")
	alsoActs = regexp.MustCompile(`_(?:and|or)_|check_?(?:in|out)`)
	// readsData finds queries of a database, and writesData those that do more than to read.
	readsData  = regexp.MustCompile(`(?is)^\s*(?:select\s.*\bfrom\b|with\s.*\bselect\b)`)
	writesData = regexp.MustCompile(`(?i)\b(?:into|update \S+ set|delete from|(?:create|alter|drop|truncate|grant|revoke|begin|commit|rollback|vacuum|mutation)\s|flush(?:all|db))|\b\w*(?:terminat|cancel|delet|creat|updat|insert|notif|send|exec)\w*\s*\(|^\s*(?:begin|commit|rollback|vacuum)\b`)
	// shellTool finds a tool or a language that is a shell's, and shellCell a cell that is.
	shellTool = regexp.MustCompile(`shell|bash|terminal|\bz?sh\b|\bcmd\b`)
	shellCell = regexp.MustCompile(`^\s*%%?(?:ba)?sh\b`)
)

// byWord returns what each word of some lists is listed under.
func byWord[T comparable](lists map[T]string) map[string]T {
	under := map[string]T{}
	for of, words := range lists {
		for _, w := range strings.Fields(words) {
			under[w] = of
		}
	}
	return under
}

func setOf(words string) map[string]bool { return byWord(map[bool]string{true: words}) }

// asks reports whether a tool only asks how things are: so says the first verb of its name,
// which may stand behind that of a server.
func (a *action) asks() bool {
	for word := range strings.FieldsFuncSeq(a.verb, func(r rune) bool { return strings.ContainsRune("_./-", r) }) {
		switch {
		case asking[word], opens[a.verb]:
			return !alsoActs.MatchString(a.verb)
		case acting[word], writes.MatchString(word):
			return false
		}
	}
	return false
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
	}
	return !a.asksData() && (writesData.MatchString(a.query) || !a.asks())
}

// inNotebook reports whether the command is the cell of a notebook, which no shell runs.
func (a *action) inNotebook() bool {
	return a.command == a.values.member("code") && !shellTool.MatchString(a.verb+" "+strings.ToLower(a.values.member("language lang type"))) && !shellCell.MatchString(a.command)
}

// classify sets what kind of call it is, from its verb and its arguments.
func (a *action) classify() {
	named := func(parts ...string) bool { return containsAny(a.verb, parts) }
	has := a.values.member
	if a.asks() { // a page is read as a file is
		a.path = cmp.Or(a.path, has("url"))
	}
	switch {
	case len(a.changes) > 0, a.path == "" && (a.verb == "edit" || a.verb == "insert"): // of the open file
		a.kind = edits
	case has("questions") != "" || named("ask_user", "ask_followup", "request_user_input", "human_input", "ask_human"):
		a.kind = asks
	case has("todos tasklist") != "" || named("todo", "update_plan", "task_tracker", "task_update"):
		a.kind = tracks
	case has("plan") != "":
		a.kind, a.text = plans, has("plan")
	case a.verb == "finish" || a.verb == "submit" || named("attempt_completion", "task_complete"):
		a.kind, a.text = reports, has("message result summary text")
	case has("subagenttype") != "", has("prompt") != "" && named("agent", "task"):
		a.kind = sends
	case a.command != "" && a.inNotebook():
		a.kind = runs
		a.script(a.command)
	case a.command != "":
		a.kind = runs
		a.shell()
	case a.path != "" && writes.MatchString(a.verb):
		a.kind = edits
		a.add(change{path: a.path, how: changed})
	case a.path+a.query == "", named("diagnos", "lint", "error", "problem"):
	case (writesData.MatchString(a.query) || a.asksData()) && !named("search", "grep", "glob", "find"):
	case a.query != "", named("list", "glob", "grep", "find", "search", "tree"), a.verb == "lsp":
		a.kind = searches
	case a.asks():
		a.kind = reads
	}
}
