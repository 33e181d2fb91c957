package agent

import (
	"regexp"
	"strings"
)

// mostChanges is the number of changes or commands of one call that are read.
const mostChanges = 256

// add notes changes, unless there are too many or nobody knows where.
func (a *Action) add(changes ...Change) {
	for _, c := range changes {
		if c.Path != "" && len(a.Changes) < mostChanges {
			a.Changes = append(a.Changes, c)
		}
	}
}

var (
	// searchBlock finds a block of SEARCH and REPLACE, as Cline, Roo and aider write it.
	searchBlock = regexp.MustCompile(`(?ms)^(?:<{5,}|-{5,}) SEARCH[^\n]*\n(?::start_line:[^\n]*\n-+\n)?(.*?)^={5,}\n(.*?)^(?:>{5,}|\+{5,}) REPLACE`)
	// hunk finds the lines of a file in a patch of apply_patch or in a unified diff.
	hunk = regexp.MustCompile(`(?m)^(?:\*\*\* (Update|Add|Delete) File: (.*)|\*\*\* Move to: (.*)|@@.*)\n((?:[^*@\n].*\n|\n)*)`)
	// notOld finds what is no part of the text before a hunk, and notNew of that after it: lines, and
	// the marks of the others.
	notOld = regexp.MustCompile(`(?m)^(?:[+\\].*\n|[- ])`)
	notNew = regexp.MustCompile(`(?m)^(?:[-\\].*\n|[+ ])`)
)

// patches takes the changes that a text describes, of the file at path if it names none.
func (a *Action) patches(text, path string) {
	if _, patch, ok := strings.Cut(text, "*** Begin Patch"); ok {
		text, _, _ = strings.Cut(patch, "*** End Patch")
	} else if !strings.Contains("\n"+text, "\n@@ ") && !strings.HasPrefix(text, "@@\n") {
		for _, m := range searchBlock.FindAllStringSubmatch(text, mostChanges) {
			a.add(Change{Path: path, Old: strings.TrimSuffix(m[1], "\n"), New: strings.TrimSuffix(m[2], "\n")})
		}
		return
	}
	how := Replaced
	for _, m := range hunk.FindAllStringSubmatch(strings.ReplaceAll(text, "\r\n", "\n")+"\n", mostChanges) {
		switch name := strings.TrimSpace(m[2] + m[3]); {
		case m[1] == "Delete":
			a.add(Change{Path: name, How: Removed})
		case m[1] == "Add":
			path, how = name, Written
		case m[1] == "Update":
			path, how = name, Replaced
		case name != "": // it moves there
			a.add(Change{Path: path, How: Removed})
			path = name
		}
		old, fresh := strings.Trim(notOld.ReplaceAllLiteralString(m[4], ""), "\n"), strings.Trim(notNew.ReplaceAllLiteralString(m[4], ""), "\n")
		if old+fresh != "" {
			a.add(Change{Path: path, Old: old, New: fresh, How: how})
		}
	}
}
