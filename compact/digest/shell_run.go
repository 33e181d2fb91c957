package digest

import (
	"regexp"
	"slices"
	"strings"
)

// ends marks commands whose output says nothing of the project, and status those that show
// how things are.
const (
	ends   kind = 255
	status kind = 254
)

// shows are commands that change nothing.
var shows = byWord(map[kind]string{
	reads:    "cat head tail nl less more bat sed awk jq open goto git-show git-diff git-blame",
	searches: "grep rg ag find ls tree fd which find_file search_file search_dir git-grep git-ls-files git-log",
	ends:     "cd wc sort uniq cut tr echo true pwd printf",
})

// does has what commands do to the files that they name.
var does = byWord(map[how]string{removed: "rm git-rm", changed: "tee touch", touched: "mv git-mv cp ln"})

// showsState finds commands that show how things are.
var showsState = regexp.MustCompile(`^(?:gh \w+ (?:view|list|status|diff)\b|(?:kubectl|oc) (?:-\S+ \S+ )*(?:get|describe|logs|top|events)\b|docker (?:compose )?(?:ps|logs|inspect|images)\b|systemctl (?:status|is-\w+|list-\S+)|journalctl\b|crontab -l|\S+ (?:\w+ )?status(?:\s|$)|mdadm (?:-D|--detail)|git-(?:status|rev-parse|branch --show-current)\b|` +
	`(?:psql|mysql|sqlite3|duckdb|bq)\b.*(?i:\bselect\b)|redis-cli .*(?i:\b(?:h?get|info|[hl]?keys|lrange)\b)|mongosh .*\bfind|curl -[sSIfLk]+ [^-]|aws \S+ (?:describe|list|get)-|az .*\b(?:show|list)\b|squeue\b|sacct\b|helm (?:history|list|get)\b|(?:glab|circleci) \w+ (?:list|view|status)\b|pm2 (?:ls|list)|pip (?:show|list)\b|npm (?:view|ls)\b|(?:ps|date|man|type|printenv)(?:\s|$))`)

var (
	// takesBack finds commands that bring files to what they were. changesFiles finds those
	// that change files which they do not name. formats finds those that format files or make
	// code.
	takesBack    = regexp.MustCompile(`^git-(?:(?:checkout|restore|switch|stash)\b|reset .*--(?:hard|keep|merge)\b)`)
	changesFiles = regexp.MustCompile(`(?i)^(?:git-(?:revert|pull|merge|rebase|cherry-pick|am|clean|apply)|patch|(?:remove|move|rename|copy|new)-item|del|erase|move|ren|copy|(?:set|add)-content|out-file|find .*-delete)\b`)
	formats      = regexp.MustCompile(`^(?:black|isort|rustfmt) |^(?:go\w+|clang-format) (?:.* )?-[wi]\b| --(?:fix|write)\b|(?:^| )(?:[\w-]+:)*(?:fmt|format|fix|codegen|generate|gen|reformat|lint-?fix|black|isort|spotless\w*|\w*Format)(?::[\w-]+)*(?: |$)`)
	// keepsFiles finds commands of the three kinds that leave the files of the folder as they are.
	keepsFiles = regexp.MustCompile(`^git-(?:(?:checkout|switch) (?:-q )?-[bBcC] \S+|stash (?:list|show|drop|clear|create|store)\b.*|(?:restore (?:-S|--staged)|rm .*--cached) .*)$| --diff\b`)
	namedFile  = regexp.MustCompile(`\w\.[A-Za-z]\w{0,4}$`)
	inPlace    = regexp.MustCompile(`^(?:-[a-zA-Z0-9]{0,5}i(?:$|[.e])|--in-place)`)
	scripted   = regexp.MustCompile(`^-\w*e$`)
	variable   = regexp.MustCompile(`\$(?:\w+|\{[^}]*\}?)`)
)

// shell takes the changes of a command, and says whether it only reads, searches or shows
// how things are.
func (a *action) shell() {
	if strings.Contains(a.command, "*** Begin Patch") {
		a.patches(a.command, "")
		return
	}
	line, docs := heredocs(a.command)
	a.commands = shellCommands(line)
	shown, away := other, false
	a.shows = len(a.commands) > 0
	for i := range a.commands {
		c, before := &a.commands[i], len(a.changes)
		is := a.run(c, docs)
		if c.name == "cd" && len(c.words) > 0 { // perhaps out of the project
			away = strings.ContainsAny(c.words[0], "$*") || strings.HasPrefix(c.words[0], "/tmp/")
		}
		for k := before; k < len(a.changes); k++ {
			ch := &a.changes[k]
			ch.last = i == len(a.commands)-1 && strings.HasPrefix(c.joint, "&&")
			if away && ch.path[0] != '/' || strings.HasPrefix(c.joint, "||") {
				*ch = change{path: ch.path, how: touched}
			}
		}
		if last := len(c.words) - 1; is == reads && last >= 0 && a.path == "" && strings.IndexByte(c.words[last], '.') >= 0 && len(c.words[last]) < 256 {
			a.path = c.words[last]
		}
		a.shows = a.shows && is != other && len(a.changes) == 0
		if is == status || shown == other && is != ends {
			shown = is
		}
	}
	switch {
	case !a.shows:
		a.script(a.command)
	case shown == reads, shown == searches:
		a.kind, a.query = shown, ""
	}
}

// names reports whether a line of shell has a word.
func names(line, word string) bool {
	before, after, ok := strings.Cut(line+" ", word)
	return ok && strings.IndexByte(" \t>'\"", (" " + before)[len(before)]) >= 0 && strings.IndexByte(" \t\n<;&|)'\"", after[0]) >= 0
}

// run takes the files that a command writes, moves or removes, and returns what it
// shows.
func (a *action) run(c *shellCommand, docs []heredoc) kind {
	text := written
	if c.adds || slices.Contains(c.words, "-a") {
		text = inserted
	}
	add := func(h how, paths ...string) {
		for _, path := range paths {
			ch := change{path: variable.ReplaceAllLiteralString(path, "*"), how: h}
			if strings.ContainsAny(ch.path, "*?{") {
				ch.how = touched
			} else if h == changed && (c.name == "cat" || c.name == "tee") { // cat > path <<EOF
				for _, d := range docs {
					if names(d.line, path) && !(d.expands && strings.ContainsAny(d.body, "$`")) {
						ch.how, ch.new = text, d.body
					}
				}
			}
			a.add(ch)
		}
	}
	add(changed, c.into...)
	files := slices.DeleteFunc(slices.Clone(c.words), func(w string) bool { return w == "" || w[0] == '-' })
	is, line := shows[c.name], c.name+" "+strings.Join(c.words, " ")
	switch {
	case (c.name == "sed" || c.name == "perl") && slices.ContainsFunc(c.words, inPlace.MatchString):
		if !slices.ContainsFunc(c.words, scripted.MatchString) {
			files = files[min(1, len(files)):]
		}
		add(changed, files...)
	case is != other && !slices.Contains(c.words, "-delete"):
		return is
	case slices.ContainsFunc(c.words, tried.MatchString), keepsFiles.MatchString(line):
	case showsState.MatchString(line) && !writesData.MatchString(line):
		return status
	case takesBack.MatchString(line):
		named := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !namedFile.MatchString(f) })
		if len(named) == 0 || len(files) > len(named)+1 {
			named = []string{everyFile}
		}
		add(changed, named...)
	case does[c.name] != replaced:
		add(does[c.name], files...)
	case changesFiles.MatchString(line), !strings.HasPrefix(c.name, "git-") && formats.MatchString(line):
		add(touched, everyFile)
	}
	return other
}

// These find that a script writes files, and what may be their names.
var (
	scriptWrites = regexp.MustCompile(`\bopen\([^)\n]*,\s*(?:mode\s*=\s*)?["'][wax]|\bwrite_text\(|\bwriteFileSync\(`)
	quotedName   = regexp.MustCompile(`["']([\w./-]+\.\w+)["']`)
)

// script takes the files that a script names, if it writes some.
func (a *action) script(script string) {
	if script = firstBytes(script, 1<<16); !scriptWrites.MatchString(script) {
		return
	}
	for _, m := range quotedName.FindAllStringSubmatch(script, mostChanges) {
		a.add(change{path: m[1], how: touched})
	}
}
