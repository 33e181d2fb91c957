package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"laconic/compact/quote"
)

// A shellCommand is a command of a line of shell.
type shellCommand struct {
	joint string   // what stands between it and the command before
	name  string   // of the program: that of git has the command of git
	words []string // behind it
	into  []string // the files that its output goes to
	adds  bool     // behind what is there
}

// plainer are parts of lines of shell, and what is read in place of them.
var plainer = []struct {
	part *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`((?:^|[;&|\n])\s*(?:sudo )?)(?:ba|z|da)?sh -\w*c (?:'([^']*)'|"((?:\\.|[^"\\])*)")`), "$1$2$3"},
	{regexp.MustCompile("\\$\\([^()]*\\)|`[^`]*`|\\$\\w+|\\$\\{[^}]*\\}?"), "*"}, // what is put in
	{regexp.MustCompile(`\\\n`), " "},
	{regexp.MustCompile(` (-[EinprlaFsz\d]{0,5}e) +(?:'[^']*'|"(?:\\.|[^"\\])*"|\S+)`), " $1"}, // a script of sed
	{regexp.MustCompile(`\[\[ [^\n]*? \]\]|\(\([^\n()'"]*\)\)`), "true"},                       // compares
	{regexp.MustCompile(`\s-(?:exec|ok)(?:dir)?\s|(\{\}'?) (?:\\;|\+)`), "$1\n"},               // what find runs
	{regexp.MustCompile(`\b(git|sudo|nice|timeout|xargs)(?: +(?:-[CcugkIdLP] +\S+|-n +\d+|--?\w\S*))+`), "$1"},
	{regexp.MustCompile(`(^|[\s;&|(/])git +(\w)`), "${1}git-$2"},
}

var (
	// shellQuote finds comments, and what is quoted, and shellMark what ends a word.
	shellQuote = regexp.MustCompile(`(?s)(?:^|\s)#[^\n]*|'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(\W)`)
	shellMark  = regexp.MustCompile(`[\s;&|<>]`)
	wordEnd    = regexp.MustCompile(`[\s;&|<>)'"]+`)
	// simple finds a command behind what stands before it, and redirection where its input
	// and its output go.
	simple      = regexp.MustCompile(`([;&|\s]*)((?:[^;&|\n<>]|(?:&>>?|\d*>>?[&|]?|<+[-~]?) *[^\s;&|<>]*)+)`)
	redirection = regexp.MustCompile(`(?:&|\d*)(>>?)\|? *([^\s&|]+)|\d*>&[\d-]*|<+[-~]? *\S*`)
	// namedFile finds what looks like the name of a file or like a pattern of names.
	namedFile = regexp.MustCompile(`[\w*]\.[A-Za-z]\w{0,4}$|^(?:\*|\{\})$`)
	// heredocLine finds a line that a here-document follows.
	heredocLine = regexp.MustCompile(`(?m)^(?:.*[^<\n])?<<[-~]? *(\\?['"]?)([A-Za-z_][\w-]*).*$`)
	// wrapping finds what may stand before the program of a command.
	wrapping = regexp.MustCompile(`^(?:sudo|doas|timeout|nice|stdbuf|env|time|nohup|exec|command|xargs|then|do|else|[({!]|-.*|\w+=.*|[\d.]+[smh]?)?$`)
)

// nowhere are the names under which Windows throws an output away.
var nowhere = setOf("nul $null")

// shellCommandOf returns a command behind what stands between it and the one before.
func shellCommandOf(joint, text string) *shellCommand {
	c := &shellCommand{joint: joint, words: strings.Fields(redirection.ReplaceAllLiteralString(text, " "))}
	for _, to := range redirection.FindAllStringSubmatch(text, -1) {
		if to[2] != "" && !strings.HasPrefix(to[2], "/dev/") && !nowhere[strings.ToLower(to[2])] {
			c.into, c.adds = append(c.into, to[2]), c.adds || to[1] == ">>"
		}
	}
	for c.name == "" && len(c.words) > 0 {
		w := strings.TrimLeft(c.words[0], `(\`)
		if c.words = c.words[1:]; w == "xargs" { // of files that nobody knows
			c.words = append(c.words, "{}")
		} else if !wrapping.MatchString(w) {
			c.name = w[strings.LastIndexByte(w, '/')+1:]
		}
	}
	return c
}

const (
	// nothing is what commands show whose output says nothing of the project.
	nothing Kind = 255
	// quotedMark stands for a blank or another mark of shell that is quoted.
	quotedMark = "\x00"
)

// A deed is what commands do: they show something, or change files.
type deed struct {
	command *regexp.Regexp
	shows   Kind
	files   string // "named" ones, those "behind" a script or a commit, or "any"
	how     How
}

// deeds are what commands do, by the first that fits.
var deeds = []deed{
	{regexp.MustCompile(`^(?:sed|perl) (?:.* )?(?:-[a-zA-Z0-9]{0,5}i(?:$|[ .e])|--in-place)`), Other, "behind", Changed},
	{regexp.MustCompile(`(?i)^new-item .*\bdirectory\b`), Other, "", 0},
	{regexp.MustCompile(`(?i)^(?:git-(?:revert|pull|merge|rebase|cherry-pick|am|clean|apply)|patch|(?:remove|move|rename|copy|new)-item|del|erase|move|ren|copy|(?:set|add)-content|out-file|find .*-delete)\b`), Other, "any", Touched},
	{regexp.MustCompile(`^(?:cat|head|tail|nl|less|more|bat|sed|awk|jq|open|goto|(?i:get-content)|git-show|git-diff|git-blame) `), Reads, "", 0},
	{regexp.MustCompile(`^(?:grep|rg|ag|find|ls|tree|fd|which|(?i:get-childitem|select-string)|find_file|search_file|search_dir|git-grep|git-ls-files|git-log) `), Searches, "", 0},
	{regexp.MustCompile(`^(?:cd|wc|sort|uniq|cut|tr|echo|true|pwd|printf) `), nothing, "", 0},
	{regexp.MustCompile(`^(?:gh \w+ (?:view|list|status|diff)\b|(?:kubectl|oc) (?:-\S+ \S+ )*(?:get|describe|logs|top|events)\b|docker (?:compose )?(?:ps|logs|inspect|images)\b|systemctl (?:status|is-\w+|list-\S+)|journalctl\b|crontab -l|\S+ (?:\w+ )?status(?:\s|$)|mdadm (?:-D|--detail)|git-(?:status|rev-parse|branch --show-current)\b|` +
		`(?:psql|mysql|sqlite3|duckdb|bq)\b.*(?i:\bselect\b)|redis-cli .*(?i:\b(?:h?get|info|[hl]?keys|lrange)\b)|mongosh .*\bfind|curl -[sSIfLk]+ [^-]|aws \S+ (?:describe|list|get)-|az .*\b(?:show|list)\b|squeue\b|sacct\b|helm (?:history|list|get)\b|(?:glab|circleci) \w+ (?:list|view|status)\b|pm2 (?:ls|list)|pip (?:show|list)\b|npm (?:view|ls)\b|(?:ps|date|man|type|printenv)(?:\s|$))`), Runs, "", 0},
	{regexp.MustCompile(`^git-(?:(?:checkout|switch) (?:-q )?-[bBcC] \S+|stash (?:list|show|drop|clear|create|store)\b.*|(?:restore (?:-S|--staged)|rm .*--cached) .*) $| --diff\b`), Other, "", 0},
	{regexp.MustCompile(`^git-(?:checkout --|restore) (?:[^-\s]\S*\.[A-Za-z]\w{0,4} )+$`), Other, "named", Restored},
	{regexp.MustCompile(`^git-(?:checkout|restore) .*\w\.[A-Za-z]\w{0,4} $`), Other, "behind", Changed},
	{regexp.MustCompile(`^git-(?:(?:checkout|restore|switch|stash)\b|reset .*--(?:hard|keep|merge)\b)`), Other, "any", Changed},
	{regexp.MustCompile(`^(?:git-)?rm `), Other, "named", Removed},
	{regexp.MustCompile(`^(?:tee|touch) `), Other, "named", Changed},
	{regexp.MustCompile(`^(?:(?:git-)?mv|cp|ln) `), Other, "named", Touched},
	{regexp.MustCompile(`^git-`), Other, "", 0},
	{regexp.MustCompile(`^(?:black|isort|rustfmt) |^(?:go\w+|clang-format) (?:.* )?-[wi]\b| --(?:fix|write)\b|(?:^| )(?:[\w-]+:)*(?:fmt|format|fix|codegen|generate|gen|reformat|lint-?fix|black|isort|spotless\w*|\w*Format)(?::[\w-]+)*(?: |$)`), Other, "any", Touched},
}

// shell takes the changes of a command, and says whether it only reads, searches or shows
// how things are.
func (a *Action) shell() {
	line, changes := hereStrings(a.Command)
	line, docs := heredocs(line)
	a.Moves = movesAway.MatchString(line)
	if strings.Contains(a.Command, "*** Begin Patch") {
		a.patches(a.Command, "")
		return
	}
	if lineEdit.MatchString(a.Command) { // of the open file
		a.add(Change{Path: EveryFile, How: Touched})
		return
	}
	a.add(changes...)
	for _, p := range plainer {
		line = p.part.ReplaceAllString(line, p.as)
	}
	line = shellQuote.ReplaceAllStringFunc(line, func(q string) string {
		return shellMark.ReplaceAllLiteralString(shellQuote.ReplaceAllString(q, "$1$2$3"), quotedMark)
	})
	commands := simple.FindAllStringSubmatch(line, mostChanges)
	a.Shows, a.mute = len(a.Changes) == 0, true
	shown, away := nothing, false
	for i, m := range commands {
		c := shellCommandOf(m[1], m[2])
		is := a.run(c, docs, away, i == len(commands)-1 && strings.HasPrefix(c.joint, "&&"))
		a.mute = a.mute && (mute[c.name] || len(c.into) > 0)
		last := strings.Join(c.words[max(0, len(c.words)-1):], "")
		switch {
		case c.name == "cd": // perhaps out of the project
			away = strings.Contains(last, "*") || strings.HasPrefix(last, "/tmp/")
		case is == Reads && a.Path == "" && strings.Contains(last, ".") && !strings.Contains(last, quotedMark):
			a.Path = last
		}
		if a.Shows = a.Shows && is != Other && len(a.Changes) == 0; shown == nothing {
			shown = is
		}
	}
	if !a.Shows {
		a.add(WrittenBy(a.Command)...)
	} else if shown != nothing {
		a.Kind = shown
	}
}

// run takes the files that a command writes, moves or removes, and returns what it shows. It
// runs perhaps out of the project if away is set.
func (a *Action) run(c *shellCommand, docs [][2]string, away, last bool) Kind {
	add := func(h How, paths ...string) {
		for _, path := range paths {
			ch := Change{Path: strings.ReplaceAll(path, quotedMark, " "), How: h, last: last}
			if strings.ContainsAny(path, "*?{") || away && path[0] != '/' || strings.HasPrefix(c.joint, "||") {
				ch.How = Touched
			} else if h == Changed && (c.name == "cat" || c.name == "tee") { // cat > path <<EOF
				for _, d := range docs {
					if d[1] != "" && slices.Contains(wordEnd.Split(d[0], -1), path) {
						ch.How, ch.New = Written, d[1]
						if c.adds || slices.Contains(c.words, "-a") {
							ch.How = Replaced
						}
					}
				}
			}
			a.add(ch)
		}
	}
	add(Changed, c.into...)
	if c.name == "" {
		return nothing
	}
	line := c.name + " " + strings.Join(c.words, " ") + " "
	i := slices.IndexFunc(deeds, func(d deed) bool { return d.command.MatchString(line) })
	if i < 0 || deeds[i].shows == Runs && writesData.MatchString(strings.ReplaceAll(line, quotedMark, " ")) {
		return Other
	}
	d, files := &deeds[i], slices.DeleteFunc(slices.Clone(c.words), func(w string) bool { return w[0] == '-' })
	if d.files == "behind" && len(files) > 0 && !namedFile.MatchString(files[0]) && !slices.Contains(c.words, "-e") {
		files = files[1:]
	}
	switch {
	case d.files == "" || tried.MatchString(line):
	case d.files == "any", d.files == "behind" && len(files) == 0:
		add(d.how, EveryFile)
	default:
		add(d.how, files...)
	}
	return d.shows
}

// commands returns a command without the folder that it goes to, comments and here-documents, and
// these.
func (a *Action) commands() (line string, docs [][2]string) {
	line, _ = hereStrings(a.Command)
	line, docs = heredocs(strings.TrimSpace(line))
	if !lineEdit.MatchString(line) {
		line = withoutComments(line)
	}
	if a.folder == "" {
		line = strings.TrimSpace(line[len(intoFolder.FindString(line)):])
	}
	return line, docs
}

// Lists reports whether a command only names files.
func (a *Action) Lists() bool {
	line, _ := a.commands()
	return lists.MatchString(line)
}

var (
	lists = regexp.MustCompile(`^(?:ls|find|tree|fd)\b`)
	// intoFolder finds that a command first goes to a folder, and intoNear to one that it does not name
	// from the root.
	intoFolder = regexp.MustCompile(`^cd [^\n]*?&& `)
	intoNear   = regexp.MustCompile(`^cd [\w.-][^\n:]*?&& `)
)

// lineEdit finds how SWE-agent edits the open file among its commands: the text is no line of shell.
var lineEdit = regexp.MustCompile(`^edit \d+:\d+\n`)

// withoutComments returns the lines of a script that do something, or all if none does.
func withoutComments(script string) string {
	lines := slices.DeleteFunc(strings.Split(script, "\n"), func(l string) bool { return l == "" || IsComment(l) })
	return cmp.Or(strings.Join(lines, "\n"), script)
}

// brief returns the commands of an action, with the documents that a program runs and those that
// are put into a command.
func (a *Action) brief() string {
	command, docs := a.commands()
	for _, d := range docs {
		if interpreter.MatchString(d[0]) && !putIn.MatchString(d[0]) && len(command) < ToldChars { // no label shows more
			command += "\n" + withoutComments(quote.First(d[1], ToldChars))
		}
	}
	var b strings.Builder
	for _, d := range docs {
		at := putIn.FindString(d[0])
		before, after, found := strings.Cut(command, at+"\n")
		switch text := strings.TrimSpace(d[1]); {
		case at == "" || !found:
			continue
		case text == "":
			b.WriteString(before + at + "\n")
		default:
			b.WriteString(before + text)
			after = strings.TrimPrefix(strings.TrimLeft(after, " \t"), ")")
		}
		command = after
	}
	near := ""
	if a.folder == "" {
		near = intoNear.FindString(strings.TrimSpace(a.Command))
	}
	return near + strings.TrimSpace(strings.ReplaceAll(b.String()+command, " 2>&1", ""))
}

// putIn finds that a here-document is put into a command, such as the message of a commit.
var putIn = regexp.MustCompile(`\$\(cat <<.*$`)

// heredocs splits a command into its lines without here-documents, and these: each has the line
// that it follows and its text, or "" where the shell puts variables into that.
func heredocs(command string) (rest string, docs [][2]string) {
	var b strings.Builder
	for command += "\n"; ; {
		m := heredocLine.FindStringSubmatchIndex(command)
		if m == nil {
			return b.String() + command, docs
		}
		body, after, _ := strings.Cut(command[m[1]:], "\n"+command[m[4]:m[5]]+"\n")
		if m[2] == m[3] && strings.ContainsAny(body, "$`") {
			body = ""
		}
		docs = append(docs, [2]string{command[m[0]:m[1]], strings.TrimPrefix(body, "\n")})
		b.WriteString(command[:m[1]] + "\n")
		command = after
	}
}
