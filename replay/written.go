package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"laconic/compact"
)

// write is a path that a call wrote.
type write struct {
	path    int // index in writes.paths
	message int // of the call
}

// writes are the paths that the calls of a conversation wrote: what an agent
// must know to go on with its own work.
type writes struct {
	paths []string // each once
	all   []write  // in the order of the messages
}

// writesOf finds the paths that calls wrote: those in the arguments of tools that
// write, edit or patch, and in the redirections of shell commands. It takes time
// linear in the text.
func writesOf(msgs []compact.Message) writes {
	var w writes
	known := map[string]int{}
	for i := range msgs {
		for c := range msgs[i].Calls {
			call := &msgs[i].Calls[c]
			for _, path := range writtenBy(call.Name, call.Arguments.String()) {
				n, ok := known[path]
				if !ok {
					n = len(w.paths)
					known[path] = n
					w.paths = append(w.paths, path)
				}
				w.all = append(w.all, write{n, i})
			}
		}
	}
	return w
}

var (
	// writingTools are parts of the names of tools that write to a path.
	writingTools = []string{"write", "edit", "create", "replace", "append", "insert", "delete"}
	// pathArguments are the arguments that hold it.
	pathArguments = []string{"path", "file_path", "filepath", "filename", "file", "absolute_path", "target_file", "notebook_path"}
	// commandArguments are the arguments that hold a shell command.
	commandArguments = []string{"command", "cmd", "script"}
	// patchHeads begin the lines of a patch that name a path.
	patchHeads = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"}
)

// writtenBy returns the paths that a call wrote, sorted, each once.
func writtenBy(tool, arguments string) (paths []string) {
	var object map[string]any
	if json.Unmarshal([]byte(arguments), &object) != nil {
		object = map[string]any{"patch": arguments}
	}
	tool = strings.ToLower(tool)
	writing := slices.ContainsFunc(writingTools, func(part string) bool { return strings.Contains(tool, part) }) &&
		object["command"] != "view" // of an editor that also shows
	for key, value := range object {
		key = strings.ToLower(key)
		text, ok := value.(string)
		if words, list := value.([]any); list {
			text, ok = lastString(words) // bash -c …
		}
		switch {
		case !ok:
		case slices.Contains(pathArguments, key):
			if writing {
				paths = append(paths, text)
			}
		case slices.Contains(commandArguments, key):
			paths = append(paths, redirections(text)...)
			paths = append(paths, patched(text)...)
		default:
			paths = append(paths, patched(text)...)
		}
	}
	for i := range paths {
		paths[i] = strings.TrimPrefix(strings.TrimSpace(paths[i]), "./")
	}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		return p == "" || strings.HasPrefix(p, "/dev/") || strings.ContainsAny(p, "\n$*`")
	})
	slices.Sort(paths)
	return slices.Compact(paths)
}

func lastString(words []any) (s string, ok bool) {
	if len(words) > 0 {
		s, ok = words[len(words)-1].(string)
	}
	return s, ok
}

// patched returns the paths in the heads of a patch.
func patched(text string) (paths []string) {
	if !strings.Contains(text, "*** ") && !strings.Contains(text, "+++ ") {
		return nil
	}
	for line := range strings.Lines(text) {
		for _, head := range patchHeads {
			if path, ok := strings.CutPrefix(line, head); ok {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// redirections returns the files that the redirections of a shell command write.
// It skips quoted text, comments and here-documents.
func redirections(command string) (files []string) {
	var ends []string // of the here-documents that begin behind this line
	wordEnded := true
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			i = quoteEnd(command, i)
		case c == '#' && wordEnded:
			for i+1 < len(command) && command[i+1] != '\n' {
				i++
			}
		case strings.HasPrefix(command[i:], "<<") && !strings.HasPrefix(command[i:], "<<<"):
			var end string
			end, i = shellWord(command, i+2+indexFunc(command[i+2:], func(c rune) bool { return c != '-' && c != ' ' }))
			if end != "" {
				ends = append(ends, end)
			}
			i--
		case c == '\n' && len(ends) > 0:
			i = hereDocumentsEnd(command, i+1, ends) - 1
			ends = nil
		case c == '>':
			for i+1 < len(command) && strings.IndexByte(">|&", command[i+1]) >= 0 {
				i++
			}
			var file string
			file, i = shellWord(command, i+1+indexFunc(command[i+1:], func(c rune) bool { return c != ' ' && c != '\t' }))
			if strings.Trim(file, "0123456789-") != "" { // not 2>&1
				files = append(files, file)
			}
			i--
		}
		wordEnded = i < len(command) && strings.IndexByte(" \t\n;|&(", command[i]) >= 0
	}
	return files
}

// quoteEnd returns the index of the quote that ends the text that the quote at an
// index begins.
func quoteEnd(command string, at int) int {
	quote := command[at]
	for at++; at < len(command) && command[at] != quote; at++ {
		if command[at] == '\\' && quote == '"' {
			at++
		}
	}
	return at
}

// shellWord returns the word at an index, without quotes, and the index behind it.
func shellWord(command string, at int) (word string, end int) {
	start := at
	for ; at < len(command) && strings.IndexByte(" \t\n;|&()<>", command[at]) < 0; at++ {
		if command[at] == '\'' || command[at] == '"' {
			at = quoteEnd(command, at)
		}
	}
	at = min(at, len(command))
	return strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(command[start:at]), at
}

// hereDocumentsEnd returns the index behind the here-documents that begin at an
// index.
func hereDocumentsEnd(command string, at int, ends []string) int {
	for _, end := range ends {
		for at < len(command) {
			line, _, _ := strings.Cut(command[at:], "\n")
			at = min(at+len(line)+1, len(command))
			if strings.TrimSpace(line) == end {
				break
			}
		}
	}
	return at
}

// trail follows through the requests of a conversation which written paths they
// still name.
type trail struct {
	writes
	// named holds, for each path, the index of the first message that names it in
	// the request before, unnamed, or unseen if it was not looked for.
	named []int
}

const (
	unnamed = -1
	unseen  = -2
)

func (w writes) trail() *trail {
	t := &trail{writes: w, named: make([]int, len(w.paths))}
	for i := range t.named {
		t.named[i] = unseen
	}
	return t
}

// follow returns how many paths were written by messages that left or were
// shortened, and how many of these the request names. The request begins with
// common messages of the one before; k and whole are as in retained.
func (t *trail) follow(k int, sent []compact.Message, common int, whole []bool) (left, named int) {
	gone := make([]bool, len(t.paths))
	for _, w := range t.all {
		if w.message < k && !whole[w.message] {
			gone[w.path] = true
		}
	}
	for p, path := range t.paths {
		if at := &t.named[p]; *at == unseen && gone[p] {
			*at = naming(sent, 0, path)
		} else if *at == unnamed || *at >= common {
			*at = naming(sent, common, path)
		}
		if gone[p] {
			left++
			if t.named[p] >= 0 {
				named++
			}
		}
	}
	return left, named
}

// naming returns the index of the first message from an index on that names a
// path, or unnamed.
func naming(sent []compact.Message, from int, path string) int {
	for i := from; i < len(sent); i++ {
		for t := range texts(&sent[i]) {
			if names(t, path) {
				return i
			}
		}
	}
	return unnamed
}

// names reports whether a text names a path: by its last two segments at least,
// which a tool that knows its folder would find.
func names(text, path string) bool {
	if at := strings.LastIndexByte(path, '/'); at > 0 {
		path = path[strings.LastIndexByte(path[:at], '/')+1:]
	}
	for from := 0; ; {
		at := strings.Index(text[from:], path)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(path)
		if (at == 0 || !inSegment(text[at-1]) || escaped(text, at-1)) && (from == len(text) || !continues(text[from:])) {
			return true
		}
	}
}

// continues reports whether a text goes on with the path that ends before it.
func continues(text string) bool {
	if text[0] == '.' {
		return len(text) > 1 && inSegment(text[1])
	}
	return inSegment(text[0])
}

// inSegment reports whether a character is part of a path's segment.
func inSegment(c byte) bool {
	return isLower(c) || isUpper(c) || '0' <= c && c <= '9' || c == '_' || c == '-'
}
