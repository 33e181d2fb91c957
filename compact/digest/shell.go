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
	// condition finds what compares, rather than writes.
	condition  = regexp.MustCompile(`\[\[ [^\n]*? \]\]|\(\([^\n()'"]*\)\)`)
	shellQuote = regexp.MustCompile(`(?s)'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.)`)
	// inShell finds a line of shell that a shell is given, and substituted what it puts in.
	inShell     = regexp.MustCompile(`((?:^|[;&|\n])\s*(?:sudo )?)(?:ba|z|da)?sh -\w*c (?:'([^']*)'|"((?:\\.|[^"\\])*)")`)
	substituted = regexp.MustCompile("\\$\\([^()]*\\)|`[^`]*`")
	// onFound finds the options of find that run a command.
	onFound = regexp.MustCompile(`^-(?:exec|ok)(?:dir)?$`)
	// valued finds the options of a program, behind its name, whose next word is their value.
	valued = regexp.MustCompile(`^(?:git -[Cc]|git-restore -(?:s|-source)|git-stash -(?:m|-message)|timeout -[ks]|nice -n|sudo -[ugp]|xargs -[0prtx]*[IEnPLdas]|(?:sed|perl|ruby) -\w*e|(?:perl|ruby) -[Ir])$`)
	// wrapping are words before the program of a command.
	wrapping = setOf("sudo doas timeout nice stdbuf env time nohup exec command xargs then do else { !")
)

// mostTokens bounds how much of a line of shell is read.
const mostTokens = 1 << 12

// shellCommands splits lines of shell into their commands.
func shellCommands(line string) (commands []shellCommand) {
	line = condition.ReplaceAllString(strings.ReplaceAll(line, "\\\n", " "), "true")
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
		case onFound.MatchString(t):
			end()
		case t == `\;`, t == "+": // the end of what find runs
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
		w := strings.TrimLeft(c.words[0], "(")
		if w != "" && !wrapping[w] && (strings.IndexByte(w, '=') <= 0 || w[0] == '-') {
			c.name, c.words = w[strings.LastIndexByte(w, '/')+1:], c.words[1:]
			break
		}
		if c.words = afterOptions(w, c.words[1:]); w == "timeout" && len(c.words) > 0 {
			c.words = c.words[1:]
		} else if w == "xargs" { // of files that nobody knows
			c.words = append(c.words, "{}")
		}
	}
	if rest := afterOptions(c.name, c.words); c.name == "git" && len(rest) > 0 {
		c.name, c.words = "git-"+rest[0], rest[1:]
	}
	c.into = slices.DeleteFunc(c.into, func(path string) bool { return strings.HasPrefix(path, "/dev/") })
	return c.name != ""
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

// operands returns what a command names that is no option and no value of one.
func (c *shellCommand) operands() (list []string) {
	for i := 0; i < len(c.words); i++ {
		if w := c.words[i]; valued.MatchString(c.name + " " + w) {
			i++
		} else if w != "" && (w[0] != '-' || w == "-") {
			list = append(list, w)
		}
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
