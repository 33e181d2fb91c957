package digest

import (
	"regexp"
	"strings"
)

// Quoted text must not look like a part of the record. Otherwise the answer of a
// tool could pass for the user's words, or end the record. So lines that are quoted
// are indented, and none begins with a label of the record's own.

// labels begin the lines of a record.
var labels = []string{"user", "agent", "folder", "changed", "as of here", "tasks as of here", "the user answered"}

// A model reads many characters as a blank or as the end of a line, and ignores
// invisible ones.
const unseen = `[\s\v\x{85}\p{Z}\p{Cf}]`

var (
	ownMarks  = regexp.MustCompile(`(?i)\[` + unseen + `*(end` + unseen + `+of` + unseen + `+the` + unseen + `+record|record` + unseen + `+of)`)
	ownLabels = regexp.MustCompile(`(?i)^` + unseen + `*(?:` + strings.Join(labels, "|") + `)` + unseen + `*:`)
	lineEnd   = strings.NewReplacer("\n", " ", "\r", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")
)

// withoutMarks breaks what looks like the record's own marks.
func withoutMarks(s string) string {
	if strings.IndexByte(s, '[') < 0 {
		return s
	}
	return ownMarks.ReplaceAllString(s, "($1")
}

// quoted returns a line as it is quoted: on one line, cut if it is very long.
func quoted(line string) string {
	line = strings.TrimRight(firstBytes(line, 4*maxLineChars), " \t\r")
	return withoutMarks(lineEnd.Replace(strings.ToValidUTF8(line, "")))
}

// bar returns a line with a bar before it if it begins like one of the record's
// own.
func bar(line string) string {
	if ownLabels.MatchString(line) {
		return "| " + strings.TrimLeft(line, " \t")
	}
	return line
}

// quote returns at most n bytes of a text on one line.
func quote(s string, n int) string {
	if n <= 0 {
		return ""
	}
	cut := len(s) > 4*n
	if cut {
		s = s[:4*n]
	}
	s = withoutMarks(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), ""))
	if len(s) > n {
		s, cut = strings.ToValidUTF8(s[:n], ""), true
	}
	if cut {
		s += "…"
	}
	return s
}
