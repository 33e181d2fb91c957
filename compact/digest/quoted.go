package digest

import (
	"regexp"
	"strings"
)

// Quoted text must not look like a part of the record. Otherwise the answer of a
// tool could pass for the user's words, or end the record.

// labels begin the lines of a record and end with a colon. After the words in
// headings, other text may precede the colon.
var (
	labels   = []string{"user", "changed", "error", "concluded", "call", "called before", "excerpts", "names"}
	headings = []string{"rules", "from"}
)

// A model reads many characters as a blank or as the end of a line, and ignores
// invisible ones.
const (
	lineEnd = `[\n\r\v\f\x{85}\x{2028}\x{2029}]`
	unseen  = `[\s\v\x{85}\p{Z}\p{Cf}]`
)

var (
	ownMarks  = regexp.MustCompile(`(?i)\[` + unseen + `*(end` + unseen + `+of` + unseen + `+the` + unseen + `+record|record` + unseen + `+of)`)
	ownLabels = regexp.MustCompile(`(?i)(` + lineEnd + `)` + unseen + `*((?:` + strings.Join(labels, "|") + `)` + unseen + `*:|(?:` + strings.Join(headings, "|") + `)(?:` + unseen + `[^\n]*)?:)`)
)

// withoutMarks breaks what looks like the record's own marks.
func withoutMarks(s string) string {
	if strings.IndexByte(s, '[') < 0 {
		return s
	}
	return ownMarks.ReplaceAllString(s, "($1")
}

// withoutLabels returns an excerpt, which may span lines, in which no line
// looks like one of the record's own: a bar precedes such a line.
func withoutLabels(s string) string {
	return ownLabels.ReplaceAllString(withoutMarks(strings.ToValidUTF8(s, "")), "$1| $2")
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
