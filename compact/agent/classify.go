package agent

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
	// tools that do something, opens names of tools that open something to read it or only speak of
	// it. alsoActs finds names with a word of asking that do more.
	asking   = setOf("get list read fetch search find show view check look lookup describe count calculate think cat peek inspect display")
	opens    = setOf("open open_file open_page load_file update_topic")
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
func (a *Action) asks() bool {
	for word := range strings.FieldsFuncSeq(a.Verb, func(r rune) bool { return strings.ContainsRune("_./-", r) }) {
		switch {
		case asking[word], opens[a.Verb]:
			return !alsoActs.MatchString(a.Verb)
		case acting[word], writes.MatchString(word):
			return false
		}
	}
	return false
}

// AsksData reports whether a call only asks a database. One that writes may keep the query.
func (a *Action) AsksData() bool {
	query := cmp.Or(a.Query, a.Values.Member("sql"))
	return readsData.MatchString(query) && !writesData.MatchString(query) && !writes.MatchString(a.Verb)
}

// MayAct reports whether a call may have an effect.
func (a *Action) MayAct() bool {
	switch a.Kind {
	case Reads, Searches, Tracks:
		return false
	case Runs:
		return !a.Shows
	}
	return !a.AsksData() && (writesData.MatchString(a.Query) || !a.asks())
}

// inNotebook reports whether the command is the cell of a notebook, which no shell runs.
func (a *Action) inNotebook() bool {
	return a.Command == a.Values.Member("code") && !shellTool.MatchString(a.Verb+" "+strings.ToLower(a.Values.Member("language lang type"))) && !shellCell.MatchString(a.Command)
}

// classify sets what kind of call it is, from its verb and its arguments.
func (a *Action) classify() {
	named := func(parts ...string) bool { return containsAny(a.Verb, parts) }
	has := a.Values.Member
	if a.asks() { // a page is read as a file is
		a.Path = cmp.Or(a.Path, has("url"))
	}
	switch {
	case len(a.Changes) > 0, a.Path == "" && (a.Verb == "edit" || a.Verb == "insert"): // of the open file
		a.Kind = Edits
	case has("questions") != "" || named("ask_user", "ask_followup", "request_user_input", "human_input", "ask_human"):
		a.Kind = Asks
	case has("todos tasklist") != "" || named("todo", "update_plan", "task_tracker", "task_update"):
		a.Kind = Tracks
	case has("plan") != "" || named("plan_mode_respond"):
		a.Kind, a.Text = Plans, has("plan response")
	case a.Verb == "finish" || a.Verb == "submit" || named("attempt_completion", "task_complete"):
		a.Kind, a.Text = Reports, has("message result summary text")
	case has("subagenttype") != "", has("prompt prompt1") != "" && named("agent", "task"):
		a.Kind = Sends
	case a.Command != "" && a.inNotebook():
		a.Kind = Runs
		a.add(WrittenBy(a.Command)...)
	case a.Command != "":
		a.Kind = Runs
		a.shell()
	case a.Path != "" && writes.MatchString(a.Verb):
		a.Kind = Edits
		a.add(Change{Path: a.Path, How: Changed})
	case a.Path+a.Query == "", named("diagnos", "lint", "error", "problem"):
	case (writesData.MatchString(a.Query) || a.AsksData()) && !named("search", "grep", "glob", "find"):
	case a.Query != "", named("list", "glob", "grep", "find", "search", "tree"), a.Verb == "lsp":
		a.Kind = Searches
	case a.asks():
		a.Kind = Reads
	}
}
