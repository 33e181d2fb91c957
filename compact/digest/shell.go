package digest

import (
	"regexp"
	"slices"
	"strings"
)

// A shellCommand is a command of a line of shell.
type shellCommand struct {
	words []string
	into  []string // the files that its output goes to
	adds  bool     // behind what is there
}

var (
	// shellToken finds comments, redirections, ends of commands, and words.
	shellToken = regexp.MustCompile(`(?s)(?:^|\s)#[^\n]*|\d*>>?[&|]?|&>>?|<+[-~]?|[;|&\n]|(?:\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|[^\s;|&<>'"\\])+`)
	// condition finds what compares, rather than writes.
	condition  = regexp.MustCompile(`\[\[ [^\n]*? \]\]|\(\([^\n()'"]*\)\)`)
	shellQuote = regexp.MustCompile(`(?s)'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.)`)
)

// mostTokens bounds how much of a line of shell is read.
const mostTokens = 1 << 12

// shellCommands splits lines of shell into their commands.
func shellCommands(line string) (commands []shellCommand) {
	var c shellCommand
	to := &c.words
	var skipped []string
	line = condition.ReplaceAllString(strings.ReplaceAll(line, "\\\n", " "), "true")
	for _, t := range append(shellToken.FindAllString(line, mostTokens), ";") {
		switch last := t[len(t)-1]; {
		case strings.HasPrefix(strings.TrimSpace(t), "#"), strings.IndexByte(";|&\n", t[0]) >= 0 && len(t) == 1:
			if len(c.words) > 0 {
				commands = append(commands, c)
			}
			c, to = shellCommand{}, &c.words
		case last == '>' || t == ">|":
			to, c.adds = &c.into, c.adds || strings.HasSuffix(t, ">>")
		case last == '&', t[0] == '<':
			to = &skipped // >&2, <<EOF
		default:
			*to = append(*to, shellQuote.ReplaceAllString(t, "$1$2$3"))
			to = &c.words
		}
	}
	return commands
}

// A heredoc is a text that a shell command gives to a program.
type heredoc struct {
	line string // the command line that it follows
	body string
}

var heredocTag = regexp.MustCompile(`(?:^|[^<])<<[-~]? *\\?['"]?([A-Za-z_]\w*)`)

// heredocs splits a command into its lines without here-documents, and these.
func heredocs(command string) (rest string, docs []heredoc) {
	if !strings.Contains(command, "<<") {
		return command, nil
	}
	var b, body strings.Builder
	tag := ""
	for line := range strings.Lines(command) {
		switch {
		case tag == "":
			b.WriteString(line)
			if m := heredocTag.FindStringSubmatch(line); m != nil {
				tag = m[1]
				docs = append(docs, heredoc{line: line})
			}
			continue
		case strings.TrimSpace(line) != tag:
			body.WriteString(line)
			continue
		}
		docs[len(docs)-1].body, tag = strings.TrimSuffix(body.String(), "\n"), ""
		body.Reset()
	}
	if tag != "" {
		docs[len(docs)-1].body = body.String()
	}
	return b.String(), docs
}

// shellAction returns what a command does that a tool runs.
func shellAction(tool, command string) *action {
	a := &action{kind: runs, tool: tool, command: command}
	a.shell()
	return a
}

// shell takes the changes of a command, and says whether it only reads or
// searches.
func (a *action) shell() {
	if strings.Contains(a.command, "*** Begin Patch") {
		a.patches(a.command, "")
		return
	}
	if editorEdit.MatchString(a.command) {
		a.kind = edits
		return
	}
	line, docs := heredocs(a.command)
	line = onWindows.ReplaceAllStringFunc(line, slashed)
	shown, only := other, len(docs) == 0
	for _, c := range shellCommands(line) {
		for len(c.words) > 0 && (wrapping[c.words[0]] || strings.IndexByte(c.words[0], '=') > 0 && c.words[0][0] != '-') {
			c.words = c.words[1:]
		}
		c.into = slices.DeleteFunc(c.into, func(path string) bool { return strings.HasPrefix(path, "/dev/") })
		is := a.run(&c, docs)
		if last := len(c.words) - 1; is == reads && last > 0 && a.path == "" && strings.IndexByte(c.words[last], '.') >= 0 && len(c.words[last]) < 256 {
			a.path = c.words[last]
		}
		if only = only && (is != other || len(c.words) == 0) && len(c.into) == 0; shown == other && is != ends {
			shown = is
		}
	}
	for _, d := range docs {
		if a.script(d.body); containsAny(d.line, []string{"apply", "patch"}) && !strings.Contains(d.line, ">") {
			a.patches("\n"+d.body, "")
		}
	}
	if len(docs) == 0 {
		a.script(a.command)
	}
	if only && shown != other {
		a.kind, a.query = shown, ""
	}
}

// editorEdit finds the commands of SWE-agent that change the open file. Their result
// names it.
var editorEdit = regexp.MustCompile(`^\s*(?:edit \d+:\d+|insert \d+|create \S+)\s`)

// onWindows finds the paths of Windows.
var onWindows = regexp.MustCompile(`(?:\b[A-Za-z]:|\.{1,2}|[\w.-]+)(?:\\[\w.-]+)+\.\w{1,5}\b`)

// wrapping are words before the program of a command.
var wrapping = setOf("sudo env time nohup exec command then do else ( { !")

// ends marks commands that only cut or count what others print.
const ends kind = 255

// shows are commands that change nothing.
var shows = byWord(map[kind]string{
	reads:    "cat head tail nl less more bat sed awk jq open goto git-show git-diff git-blame",
	searches: "grep rg ag find ls tree fd which find_file search_file search_dir git-grep git-ls-files git-log",
	ends:     "cd wc sort uniq cut tr xargs echo true pwd printf",
})

// In requirements installers write what they add, and formatters change files when
// they are told to.
var (
	requirements = map[string]string{"npm": "package.json", "pnpm": "package.json", "yarn": "package.json", "bun": "package.json", "go": "go.mod", "cargo": "Cargo.toml", "poetry": "pyproject.toml", "uv": "pyproject.toml"}
	adds         = setOf("add install i get remove uninstall")
	formatters   = map[string]string{"gofmt": "-w", "goimports": "-w", "gofumpt": "-w", "prettier": "--write", "black": "", "isort": "", "rustfmt": "", "clang-format": "-i", "ruff": "format", "eslint": "--fix"}
	formats      = regexp.MustCompile(`^(?:--fix|--write|(?:[\w-]+:)*(?:fmt|format|fix|reformat|lint-?fix|black|isort|spotless\w*|\w*Format)(?::[\w-]+)*)$`)
	movesAll     = setOf("push save pop apply")
	namedFile    = regexp.MustCompile(`\w\.[A-Za-z]\w{0,4}$`)
	inPlace      = regexp.MustCompile(`^(?:-i|--in-place|-pie?$)`)
)

// unixNames are the names of commands of Windows on other systems.
var unixNames = byWord(map[string]string{"rm": "remove-item del erase", "mv": "move-item move rename-item ren", "cp": "copy-item copy", "tee": "set-content add-content out-file"})

// psValues finds parameters of PowerShell that are no files, with what follows.
var psValues = regexp.MustCompile(`(?i)^-(?:value|encoding|include|exclude|filter|inputobject|itemtype|width)$`)

// run takes the files that a command writes, moves or removes, and returns what it
// shows.
func (a *action) run(c *shellCommand, docs []heredoc) kind {
	if len(c.words) == 0 {
		return other
	}
	into := rewritten
	if c.adds || slices.Contains(c.words, "-a") {
		into = changed
	}
	add := func(h how, paths ...string) {
		for _, path := range paths {
			if path == "" || strings.IndexByte("-&$", path[0]) >= 0 || strings.HasPrefix(path, "/dev/") || strings.ContainsAny(path, "*?(){}") {
				continue
			}
			ch := change{path: path, how: h}
			for _, d := range docs { // cat > path <<EOF
				if h == into && strings.Contains(d.line, path) && (c.words[0] == "cat" || c.words[0] == "tee") {
					if ch.how, ch.new = written, d.body; strings.Contains(d.line, ">>") || slices.Contains(c.words, "-a") {
						ch.how = inserted
					}
				}
			}
			a.add(ch)
		}
	}
	add(into, c.into...)
	name, words := c.words[0], c.words[1:]
	if name == "git" && len(words) > 2 && words[0] == "-C" {
		words = words[2:]
	}
	if name == "git" && len(words) > 0 {
		name, words = "git-"+words[0], words[1:]
	}
	if unix := unixNames[strings.ToLower(name)]; unix != "" {
		name = unix
		words = slices.Clone(words)
		for i := slices.IndexFunc(words, psValues.MatchString); i >= 0; i = slices.IndexFunc(words, psValues.MatchString) {
			words = slices.Delete(words, i, min(i+2, len(words)))
		}
	}
	files := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
	n := len(files)
	given := func(flags ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(flags, w) })
	}
	switch name {
	case "sed", "perl":
		if slices.ContainsFunc(words, inPlace.MatchString) {
			add(rewritten, files[min(1, n):]...)
			return other
		}
	case "mv", "git-mv", "cp", "install", "ln":
		if n > 1 {
			if strings.HasSuffix(name, "mv") {
				add(removed, files[:n-1]...)
			}
			add(rewritten, files[n-1])
		}
	case "touch":
		add(changed, files...)
	case "tee":
		add(into, files...)
	case "rm", "unlink", "git-rm":
		if !given("--cached") {
			add(removed, files...)
		}
	case "git-checkout", "git-restore", "git-switch", "git-stash", "git-reset":
		i := slices.Index(words, "--")
		switch there := n == 1 && !slices.ContainsFunc(words, func(w string) bool { return len(w) == 2 && strings.Contains("-b-B-c-C", w) }); {
		case name == "git-restore" && given("--staged", "-S") && !given("--worktree", "-W"): // of the index
		case i >= 0:
			add(restored, words[i+1:]...)
		case name == "git-restore", name == "git-checkout" && there && namedFile.MatchString(files[0]):
			add(restored, files...)
		case name == "git-reset" && given("--hard"), name == "git-stash" && (n == 0 || movesAll[files[0]]), there && (name == "git-checkout" || name == "git-switch"):
			add(changed, everyFile)
		}
	case "git-revert", "git-pull", "git-merge", "git-rebase", "git-cherry-pick", "git-am", "git-clean":
		add(touched, everyFile)
	case "git-apply", "patch":
		if given("-R", "--reverse") {
			add(touched, everyFile)
		}
	default:
		if file := requirements[name]; file != "" && n > 1 && adds[files[0]] && !slices.Contains(words, "-g") {
			add(changed, file)
		}
		flag, writes := formatters[name]
		named := slices.DeleteFunc(files, func(f string) bool { return strings.IndexByte(f, '.') <= 0 })
		switch writes = writes && (flag == "" || slices.Contains(words, flag)); {
		case given("--diff", "--check"): // it shows what it would do
		case writes && len(named) > 0:
			add(changed, named...)
		case writes, shows[name] == other && !strings.HasPrefix(name, "git-") && slices.ContainsFunc(c.words, formats.MatchString):
			add(touched, everyFile)
		}
	}
	return shows[name]
}

var (
	opened   = regexp.MustCompile(`open\(\s*([\w.]+|["'][^"'\n]+["'])\s*,\s*(?:mode\s*=\s*)?["'][wax]`)
	wrote    = regexp.MustCompile(`(?:Path\(\s*(["'][^"'\n]+["'])\s*\)|\b(\w+))\.write_text\(|writeFileSync\(\s*(["'][^"'\n]+["'])`)
	assigned = regexp.MustCompile(`(?m)^\s*(\w+)\s*=\s*(?:Path\(|pathlib\.Path\()?\s*(["'][^"'\n]+["'])\)?\s*;?\s*$`)
)

// script takes the files that a script writes, as far as it says their names.
func (a *action) script(script string) {
	script = firstBytes(script, 1<<16)
	if !containsAny(script, []string{"open(", "write_text", "writeFile"}) {
		return
	}
	names := map[string]string{}
	for _, m := range assigned.FindAllStringSubmatch(script, 64) {
		names[m[1]] = m[2]
	}
	for _, m := range append(opened.FindAllStringSubmatch(script, 64), wrote.FindAllStringSubmatch(script, 64)...) {
		name := strings.Join(m[1:], "")
		if name != "" && strings.IndexByte(`"'`, name[0]) < 0 {
			name = names[name]
		}
		a.add(change{path: strings.Trim(name, `"'`), how: changed})
	}
}
