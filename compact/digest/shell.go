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

// mayBe reports whether a change of what a pattern names, or of a file in a folder that
// only the shell knows, may be one of a file.
func (c *change) mayBe(path string) bool {
	path, of := "/"+slashed(path), slashed(strings.TrimPrefix(c.path, "./"))
	i := strings.IndexAny(of, "*?{")
	if i < 0 {
		return of == everyFile || strings.HasSuffix(path, "/"+of)
	}
	folder := of[:max(0, strings.LastIndexByte(of[:i], '/'))]
	in := "/" + folder[strings.LastIndexByte(folder, '/')+1:] + "/"
	return (folder == "" || strings.Contains(path, in)) && strings.HasSuffix(path, of[strings.LastIndexAny(of, "*?}")+1:])
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
	if powerShell.MatchString(line) {
		line = slashed(line)
	}
	line = onWindows.ReplaceAllStringFunc(line, slashed)
	shown, only, away := other, len(docs) == 0, false
	loops := map[string]bool{} // the variables of loops
	for _, m := range loopNames.FindAllStringSubmatch(a.command, -1) {
		loops[m[1]] = true
	}
	for _, c := range shellCommands(line) {
		if len(c.words) > 0 && len(c.words[0]) > 1 {
			c.words[0] = strings.TrimPrefix(c.words[0], "(")
		}
		for len(c.words) > 0 && (wrapping[c.words[0]] || strings.IndexByte(c.words[0], '=') > 0 && c.words[0][0] != '-') {
			c.words = c.words[1:]
		}
		c.into = slices.DeleteFunc(c.into, func(path string) bool { return strings.HasPrefix(path, "/dev/") })
		before := len(a.changes)
		is := a.run(&c, docs, loops)
		if len(c.words) > 1 && c.words[0] == "cd" { // into a folder that only the shell knows
			away = strings.IndexByte(c.words[1], '$') >= 0 && !ownFolder.MatchString(c.words[1])
		}
		for k := before; away && k < len(a.changes); k++ {
			if c := &a.changes[k]; c.path[0] != '/' {
				*c = change{path: c.path, how: touched}
			}
		}
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

// powerShell finds that a line is of PowerShell, or for Windows.
var powerShell = regexp.MustCompile(`\b(?:Add|Copy|Get|Move|New|Out|Remove|Rename|Set|Test)-[A-Z]\w+|(?:^|\s)(?:copy|move|del) [A-Za-z]:\\`)

// ownFolder finds variables that name the folder of the project.
var ownFolder = regexp.MustCompile(`(?i)git|root|repo|pwd|work|proj`)

// wrapping are words before the program of a command.
var wrapping = setOf("sudo env time nohup exec command then do else ( { !")

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
