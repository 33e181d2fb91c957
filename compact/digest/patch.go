package digest

import (
	"regexp"
	"strings"
)

// searchBlock finds a block of SEARCH and REPLACE, as Cline, Roo and aider write it.
var searchBlock = regexp.MustCompile(`(?ms)^(?:<{5,}|-{5,}) SEARCH[^\n]*\n(?::start_line:[^\n]*\n-+\n)?(.*?)^={5,}\n(.*?)^(?:>{5,}|\+{5,}) REPLACE`)

// patches takes the changes that a text describes: a patch of apply_patch, a
// unified diff, or blocks of SEARCH and REPLACE for the file at path.
func (a *action) patches(text, path string) {
	if i := strings.Index(text, "*** Begin Patch"); i >= 0 {
		text, _, _ = strings.Cut(text[i:], "*** End Patch")
	} else if !strings.Contains("\n"+text, "\n@@ ") && !strings.HasPrefix(text, "@@\n") {
		for _, m := range searchBlock.FindAllStringSubmatch(text, mostChanges) {
			a.add(change{path: path, old: strings.TrimSuffix(m[1], "\n"), new: strings.TrimSuffix(m[2], "\n")})
		}
		return
	}
	var old, fresh []string
	open, how := false, replaced
	flush := func() {
		if len(old)+len(fresh) > 0 {
			a.add(change{path: path, old: strings.Join(old, "\n"), new: strings.Join(fresh, "\n"), how: how})
		}
		old, fresh = nil, nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		word, name, _ := strings.Cut(line, "File: ")
		switch {
		case word == "*** Update ", word == "*** Add ":
			flush()
			path, open, how = strings.TrimSpace(name), true, replaced
			if word == "*** Add " {
				how = written
			}
		case word == "*** Delete ":
			a.add(change{path: strings.TrimSpace(name), how: removed})
		case strings.HasPrefix(line, "*** Move to: "):
			a.add(change{path: path, how: removed})
			path = strings.TrimSpace(line[len("*** Move to: "):])
		case strings.HasPrefix(line, "@@"):
			flush()
			open = true
		case !open, strings.HasPrefix(line, "*** "), strings.HasPrefix(line, `\ No newline`):
		case strings.HasPrefix(line, "+"):
			fresh = append(fresh, line[1:])
		case strings.HasPrefix(line, "-"):
			old = append(old, line[1:])
		case line != "" || len(old)+len(fresh) > 0:
			line = strings.TrimPrefix(line, " ")
			old, fresh = append(old, line), append(fresh, line)
		}
	}
	flush()
}
