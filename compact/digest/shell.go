package digest

import (
	"regexp"
	"slices"
	"strings"
)

// A shellCommand is a command of a line of shell.
type shellCommand struct {
	name  string   // of the program: that of git has the command of git
	words []string // behind it
	into  []string // the files that its output goes to
	adds  bool     // behind what is there
	joint string   // what stands between it and the command before
}

var (
	// shellToken finds comments, redirections, ends of commands, and words.
	shellToken = regexp.MustCompile(`(?s)(?:^|\s)#[^\n]*|\d*>>?[&|]?|&>>?|<+[-~]?|[;|&\n]|(?:\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|[^\s;|&<>'"\\])+`)
	shellQuote = regexp.MustCompile(`(?s)'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.)`)
	// wrapping finds what may stand before the program of a command.
	wrapping = regexp.MustCompile(`^(?:sudo|doas|timeout|nice|stdbuf|env|time|nohup|exec|command|xargs|then|do|else|[{!]|-.*|\w+=.*|[\d.]+[smh]?)?$`)
)

// plainer are parts of lines of shell, and what is read in place of them.
var plainer = []struct {
	part *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`((?:^|[;&|\n])\s*(?:sudo )?)(?:ba|z|da)?sh -\w*c (?:'([^']*)'|"((?:\\.|[^"\\])*)")`), "$1$2$3"},
	{regexp.MustCompile("\\$\\([^()]*\\)|`[^`]*`"), "*"}, // what is put in
	{regexp.MustCompile(`\\\n`), " "},
	{regexp.MustCompile(` (-[EinprlaFsz\d]{0,5}e) +(?:'[^']*'|"(?:\\.|[^"\\])*"|\S+)`), " $1"}, // a script of sed
	{regexp.MustCompile(`\[\[ [^\n]*? \]\]|\(\([^\n()'"]*\)\)`), "true"},                       // compares
	{regexp.MustCompile(`\s-(?:exec|ok)(?:dir)?\s|(\{\}'?) (?:\\;|\+)`), "$1\n"},               // what find runs
	{regexp.MustCompile(`\b(git|sudo|nice|timeout|xargs)(?: +(?:-[CcugkIdLP] +\S+|-n +\d+|--?\w\S*))+`), "$1"},
}

// mostTokens bounds how much of a line of shell is read.
const mostTokens = 1 << 12

// shellCommands splits lines of shell into their commands.
func shellCommands(line string) (commands []shellCommand) {
	for _, p := range plainer {
		line = p.part.ReplaceAllString(line, p.as)
	}
	var c shellCommand
	to, joint := &c.words, ""
	end := func() {
		if c.named() {
			commands, joint = append(commands, c), ""
		}
		c, to = shellCommand{}, &c.words
	}
	var skipped []string
	for _, t := range append(shellToken.FindAllString(line, mostTokens), ";") {
		switch last := t[len(t)-1]; {
		case strings.HasPrefix(strings.TrimSpace(t), "#"), strings.IndexByte(";|&\n", t[0]) >= 0 && len(t) == 1:
			end()
			joint += t
			c.joint = joint
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
	for c.name == "" && len(c.words) > 0 {
		w := strings.TrimLeft(c.words[0], "(")
		if c.words = c.words[1:]; w == "xargs" { // of files that nobody knows
			c.words = append(c.words, "{}")
		} else if !wrapping.MatchString(w) {
			c.name = w[strings.LastIndexByte(w, '/')+1:]
		}
	}
	if c.name == "git" && len(c.words) > 0 {
		c.name, c.words = "git-"+c.words[0], c.words[1:]
	}
	c.into = slices.DeleteFunc(c.into, func(path string) bool { return strings.HasPrefix(path, "/dev/") })
	return c.name != ""
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
	return b.String(), docs
}
