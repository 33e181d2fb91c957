package demo

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// workspace is the source tree that the agent of the demo works in: names and texts in memory. Its answers
// are those of an agent's usual file tools, so tool results are as long as real ones.
type workspace struct {
	files map[string]string
}

// openWorkspace reads an archive in txtar format: "-- name --" lines, each followed by a file.
func openWorkspace(archive []byte) *workspace {
	w := &workspace{files: map[string]string{}}
	name := ""
	for line := range bytes.Lines(archive) {
		if after, ok := strings.CutPrefix(string(line), "-- "); ok && strings.HasSuffix(after, " --\n") {
			name = strings.TrimSuffix(after, " --\n")
			w.files[name] = ""
			continue
		}
		if name != "" {
			w.files[name] += string(line)
		}
	}
	return w
}

// under is the names of all files below a folder, sorted; "." is everything.
func (w *workspace) under(folder string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		if folder == "." || name == folder || strings.HasPrefix(name, folder+"/") {
			names = append(names, name)
		}
	}
	return names
}

func (w *workspace) list(folder string) string {
	names := w.under(folder)
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(path.Dir(a), path.Dir(b)) })
	var b strings.Builder
	last := ""
	for _, name := range names {
		if dir := path.Dir(name); dir != last {
			fmt.Fprintf(&b, "%s/\n", dir)
			last = dir
		}
		fmt.Fprintf(&b, "  %-28s %6d bytes\n", path.Base(name), len(w.files[name]))
	}
	return b.String()
}

// read returns lines from to to, numbered from 1; to 0 means the end.
func (w *workspace) read(name string, from, to int) (string, error) {
	text, ok := w.files[name]
	if !ok {
		return "", fmt.Errorf("no file %s", name)
	}
	return numbered(text, from, to), nil
}

func numbered(text string, from, to int) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		if n >= from && (to == 0 || n <= to) {
			fmt.Fprintf(&b, "%5d\t%s", n, line)
		}
	}
	return b.String()
}

func (w *workspace) grep(pattern, folder string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range w.under(folder) {
		n := 0
		for line := range strings.Lines(w.files[name]) {
			n++
			if re.MatchString(line) {
				fmt.Fprintf(&b, "%s:%d:%s", name, n, line)
			}
		}
	}
	if b.Len() == 0 {
		return "(no matches)", nil
	}
	return b.String(), nil
}

// edit replaces the one place where old stands, and shows it with four lines around it.
func (w *workspace) edit(name, old, new string) (string, error) {
	text := w.files[name]
	if n := strings.Count(text, old); n != 1 || old == "" {
		return "", fmt.Errorf("%s: the old text occurs %d times, want once:\n%s", name, n, old)
	}
	at := strings.Index(text, old)
	text = text[:at] + new + text[at+len(old):]
	w.files[name] = text
	first := strings.Count(text[:at], "\n") + 1
	last := first + strings.Count(new, "\n")
	return fmt.Sprintf("%s was edited. It now reads:\n%s", name, numbered(text, first-4, last+4)), nil
}

func (w *workspace) write(name, text string) string {
	w.files[name] = text
	return fmt.Sprintf("%s was written, %d lines.", name, strings.Count(text, "\n"))
}
