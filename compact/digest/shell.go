package digest

import (
	"regexp"
	"slices"
	"strings"
)

// A shellCommand is a command of a line of shell.
type shellCommand struct {
	program string   // as it is written
	name    string   // of the program, on all systems: that of git has the command of git
	words   []string // behind it
	into    []string // the files that its output goes to
	adds    bool     // behind what is there
	joint   string   // what stands between it and the command before
	listed  bool     // it runs on what xargs is given, or on what find finds
}

var (
	// shellToken finds comments, redirections, ends of commands, and words.
	shellToken = regexp.MustCompile(`(?s)(?:^|\s)#[^\n]*|\d*>>?[&|]?|&>>?|<+[-~]?|[;|&\n]|(?:\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|[^\s;|&<>'"\\])+`)
	// condition finds what compares, rather than writes.
	condition  = regexp.MustCompile(`\[\[ [^\n]*? \]\]|\(\([^\n()'"]*\)\)`)
	shellQuote = regexp.MustCompile(`(?s)'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.)`)
	binary     = regexp.MustCompile(`^/(?:usr/)?(?:local/)?s?bin/`)
	// inShell finds a line of shell that a shell is given, and substituted what it puts in.
	inShell     = regexp.MustCompile(`((?:^|[;&|\n])\s*(?:sudo )?)(?:ba|z|da)?sh -\w*c (?:'([^']*)'|"((?:\\.|[^"\\])*)")`)
	substituted = regexp.MustCompile("\\$\\([^()]*\\)|`[^`]*`")
	// onFound finds the options of find that run a command.
	onFound = regexp.MustCompile(`^-(?:exec|ok)(?:dir)?$`)
	// onWindows finds the paths of Windows, and powerShell that a line is for Windows.
	onWindows  = regexp.MustCompile(`(?:\b[A-Za-z]:|\.{1,2}|[\w.-]+)(?:\\[\w.-]+)+\.\w{1,5}\b`)
	powerShell = regexp.MustCompile(`\b(?:Add|Copy|Get|Move|New|Out|Remove|Rename|Set|Test)-[A-Z]\w+|(?:^|\s)(?:copy|move|del) [A-Za-z]:\\`)
	toFolder   = regexp.MustCompile(`^(?:-[a-zA-Z]{0,2}t|--target-directory)$`)
	// valued finds the options of a program, behind its name, whose next word is their value.
	valued = regexp.MustCompile(`^(?:git -[Cc]|git-restore -(?:s|-source)|git-stash -(?:m|-message)|timeout -[ks]|nice -n|sudo -[ugp]|xargs -[0prtx]*[IEnPLdas]|(?:sed|perl|ruby) -\w*e|(?:perl|ruby) -[Ir]|install -(?:[a-zA-Z]*[mog]|-mode|-owner|-group)|(?:mv|git-mv|cp|ln|install) -(?:[a-z]*S|-suffix|[a-zA-Z]{0,2}t|-target-directory)|` +
		`(?:rm|mv|cp|tee) (?i)-(?:value|encoding|include|exclude|filter|inputobject|itemtype|width))$`)
)

// wrapping are words before the program of a command, and unixNames what programs of
// Windows are called on other systems.
var (
	wrapping  = setOf("sudo doas timeout nice stdbuf env time nohup exec command xargs then do else ( { !")
	unixNames = byWord(map[string]string{"rm": "remove-item del erase", "mv": "move-item move rename-item ren", "cp": "copy-item copy", "tee": "set-content add-content out-file"})
)

// unnamed stands for the files that find or the input of xargs names.
const unnamed = "a.listed"

// mostTokens bounds how much of a line of shell is read.
const mostTokens = 1 << 12

// shellCommands splits lines of shell into their commands.
func shellCommands(line string) (commands []shellCommand) {
	if powerShell.MatchString(line) {
		line = slashed(line)
	}
	line = onWindows.ReplaceAllStringFunc(line, slashed)
	line = condition.ReplaceAllString(strings.ReplaceAll(line, "\\\n", " "), "true")
	var c shellCommand
	to, joint := &c.words, ""
	end := func(listed bool) {
		if c.named() {
			commands, joint = append(commands, c), ""
		}
		c, to = shellCommand{listed: listed}, &c.words
	}
	var skipped []string
	for _, t := range append(shellToken.FindAllString(line, mostTokens), ";") {
		switch last := t[len(t)-1]; {
		case strings.HasPrefix(strings.TrimSpace(t), "#"), strings.IndexByte(";|&\n", t[0]) >= 0 && len(t) == 1:
			end(false)
			joint += t
			c.joint = joint
		case onFound.MatchString(t) && (c.listed || slices.Contains(c.words, "find")):
			end(true)
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

// named finds the program of a command behind what wraps it. It reports whether there is
// one.
func (c *shellCommand) named() bool {
	for len(c.words) > 0 {
		w := c.words[0]
		if len(w) > 1 {
			w = strings.TrimPrefix(w, "(")
		}
		if !wrapping[w] && (strings.IndexByte(w, '=') <= 0 || w[0] == '-') {
			c.program, c.name, c.words = w, binary.ReplaceAllString(w, ""), c.words[1:]
			break
		}
		c.listed = c.listed || w == "xargs"
		if c.words = afterOptions(w, c.words[1:]); w == "timeout" && len(c.words) > 0 {
			c.words = c.words[1:]
		}
	}
	if unix := unixNames[strings.ToLower(c.name)]; unix != "" {
		c.name = unix
	}
	if rest := afterOptions(c.name, c.words); c.name == "git" && len(rest) > 0 {
		c.name, c.words = "git-"+rest[0], rest[1:]
	}
	if c.listed {
		c.words = append(c.words, unnamed)
	}
	c.into = slices.DeleteFunc(c.into, func(path string) bool { return strings.HasPrefix(path, "/dev/") })
	return c.program != ""
}

// afterOptions returns the words after the options that stand before all else.
func afterOptions(name string, words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if valued.MatchString(name+" "+words[0]) && len(words) > 1 {
			words = words[1:]
		}
		words = words[1:]
	}
	return words
}

// operands returns what a command names that is no option and no value of one. A folder
// that is said to be one is the last, and ends with a slash.
func (c *shellCommand) operands() (list []string) {
	folder := ""
	for i := 0; i < len(c.words); i++ {
		w := c.words[i]
		to, named := strings.CutPrefix(w, "--target-directory=")
		if valued.MatchString(c.name+" "+w) && i+1 < len(c.words) {
			i++
			to, named = c.words[i], toFolder.MatchString(w)
		} else if w != "" && (w[0] != '-' || w == "-") {
			list = append(list, w)
		}
		if named {
			folder = strings.TrimSuffix(to, "/") + "/"
		}
	}
	if folder != "" {
		list = append(list, folder)
	}
	return list
}

// shellAction returns what a command does that a tool runs.
func shellAction(tool, command string) *action {
	a := &action{kind: runs, tool: tool, command: command}
	a.shell()
	return a
}

// A heredoc is a text that a shell command gives to a program.
type heredoc struct {
	line    string // the command line that it follows
	expands bool   // the shell puts variables in
	body    string
}

var heredocTag = regexp.MustCompile(`(?:^|[^<])<<[-~]? *(\\?['"]?)([A-Za-z_][\w-]*)`)

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
				tag = m[2]
				docs = append(docs, heredoc{line: line, expands: m[1] == ""})
			}
		case strings.TrimSpace(line) == tag:
			docs[len(docs)-1].body, tag = strings.TrimSuffix(body.String(), "\n"), ""
			body.Reset()
		default:
			body.WriteString(line)
		}
	}
	if tag != "" {
		docs[len(docs)-1].body = body.String()
	}
	return b.String(), docs
}
