package digest

import (
	"regexp"
	"strings"
)

// What a digest quotes may not speak for it: what a tool answered would else
// be taken for the user's words, or end the record it stands in.

// labels begin the lines of a record, before a colon; of the headings in
// headings anything may stand between.
var (
	labels   = []string{"user", "changed", "error", "concluded", "call", "called before", "excerpts", "names"}
	headings = []string{"rules", "from"}
)

// A model reads many characters as a blank or as the end of a line, and looks
// past those that are not seen.
const (
	lineEnd = `[\n\r\v\f\x{85}\x{2028}\x{2029}]`
	unseen  = `[\s\v\x{85}\p{Z}\p{Cf}]`
)

var (
	ownMarks  = regexp.MustCompile(`(?i)\[` + unseen + `*(end` + unseen + `+of` + unseen + `+the` + unseen + `+record|record` + unseen + `+of)`)
	ownLabels = regexp.MustCompile(`(?i)(` + lineEnd + `)` + unseen + `*((?:` + strings.Join(labels, "|") + `)` + unseen + `*:|(?:` + strings.Join(headings, "|") + `)(?:` + unseen + `[^\n]*)?:)`)
)

// unmarked takes away the form of our own marks.
func unmarked(s string) string { return ownMarks.ReplaceAllString(s, "($1") }

// unlabelled is what an excerpt may say. It spans lines, but none of them may
// look like one of the record's own, or like its end: a bar stands before one
// that does.
func unlabelled(s string) string {
	return ownLabels.ReplaceAllString(unmarked(strings.ToValidUTF8(s, "")), "$1| $2")
}

// quoted puts at most n bytes of a text on one line.
func quoted(s string, n int) string {
	if n <= 0 {
		return ""
	}
	cut := len(s) > 4*n
	if cut {
		s = s[:4*n]
	}
	s = unmarked(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), ""))
	if len(s) > n {
		s, cut = strings.ToValidUTF8(s[:n], ""), true
	}
	if cut {
		s += "…"
	}
	return s
}
