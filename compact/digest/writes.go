package digest

import (
	"slices"
	"strings"
)

// maxWrites bounds how many files one call may write.
const maxWrites = 16

// writes returns the files that an action writes, edits, moves or removes, as
// far as its arguments say. Of an action that changes something else, as its
// name says, it returns what was done.
func (a *action) writes() []string {
	switch {
	case a.path != "":
		if a.command == "view" || !a.edits && !writesByName(a.tool) {
			return nil
		}
		return []string{quote(a.path, subjectChars)}
	case a.command != "":
		if patched := patchedFiles(a.command); patched != nil {
			return patched
		}
		return shellWrites(a.command)
	}
	if patched := patchedFiles(a.text + a.other); patched != nil {
		return patched
	}
	if a.query == "" && acts(a.tool) {
		return []string{a.deed()}
	}
	return nil
}

// deed returns what an action did that wrote no file: its name and its
// arguments.
func (a *action) deed() string { return quote(a.tool+a.rest, subjectChars) }

// acting are words that begin the names of tools which change something that is
// no file: an order, a booking, a mail.
var acting = []string{
	"add", "approve", "assign", "book", "cancel", "close", "create", "delete", "exchange", "invite", "modify", "pay", "post", "reject",
	"remove", "return", "schedule", "send", "set", "share", "submit", "transfer", "update",
}

// acts reports whether the first word of a tool's name says that it changes
// something.
func acts(tool string) bool {
	tool = strings.ToLower(tool)
	end := strings.IndexAny(tool, "_-.")
	return slices.Contains(acting, tool[:max(end, 0)])
}

var changing = []string{"write", "edit", "create", "patch", "replace", "insert", "append", "delete", "remove", "rename", "move", "save", "update", "modify"}

// writesByName reports whether the name of a tool says that it changes a file.
func writesByName(tool string) bool {
	tool = strings.ToLower(tool)
	return slices.ContainsFunc(changing, func(w string) bool { return strings.Contains(tool, w) })
}

// patchedFiles returns the files in a patch.
func patchedFiles(text string) (paths []string) {
	for line := range strings.Lines(text) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/"} {
			if path, ok := strings.CutPrefix(line, head); ok && len(paths) < maxWrites {
				paths = append(paths, quote(path, subjectChars))
			}
		}
	}
	return paths
}

// shellWrites returns the files that a shell command writes: the targets of its
// output, and the arguments of commands that change files.
func shellWrites(command string) (paths []string) {
	add := func(path string) {
		if path = quote(path, subjectChars); path != "" && path[0] != '-' && path[0] != '&' && !strings.HasPrefix(path, "/dev/") &&
			len(paths) < maxWrites && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, words := range shellCommands(command) {
		into := false
		var plain []string
		for _, w := range words {
			switch {
			case w == ">":
				into = true
			case into:
				add(w)
				into = false
			default:
				plain = append(plain, w)
			}
		}
		for len(plain) > 0 && (strings.Contains(plain[0], "=") || plain[0] == "sudo" || plain[0] == "git") {
			plain = plain[1:]
		}
		if len(plain) < 2 {
			continue
		}
		last := plain[len(plain)-1]
		switch plain[0] {
		case "sed", "perl":
			if slices.ContainsFunc(plain, func(w string) bool { return strings.HasPrefix(w, "-i") || w == "-pi" }) {
				add(last)
			}
		case "mv", "cp", "install", "tee", "touch", "patch":
			add(last)
		case "rm":
			for _, w := range plain[1:] {
				add(w)
			}
		}
	}
	return paths
}

// shellCommands splits a line of shell into its commands and their words. It
// leaves out the text of a here-document. A redirection is the word >.
func shellCommands(line string) (commands [][]string) {
	var words []string
	var word strings.Builder
	has, here := false, false
	end := func() {
		if has {
			words = append(words, word.String())
		}
		word.Reset()
		has = false
	}
	next := func() {
		if end(); len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' || c == '"':
			j := strings.IndexByte(line[i+1:], c)
			if j < 0 {
				j = len(line) - i - 1
			}
			word.WriteString(line[i+1 : i+1+j])
			i += j + 1
			has = true
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			has = true
		case c == '\n' && here:
			next()
			return commands
		case c == ';' || c == '|' || c == '\n' || c == '&' && !strings.HasSuffix(line[:i], ">"):
			next()
		case c == '>':
			if w := word.String(); w == "1" || w == "2" || w == "&" {
				word.Reset()
				has = false
			}
			if end(); len(words) == 0 || words[len(words)-1] != ">" {
				words = append(words, ">")
			}
		case c == '<':
			here = here || strings.HasPrefix(line[i:], "<<") && !strings.HasPrefix(line[i:], "<<<")
			end()
		case isBlank(c):
			end()
		default:
			word.WriteByte(c)
			has = true
		}
	}
	next()
	return commands
}
