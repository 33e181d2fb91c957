// Package quote writes what a record quotes: cut, on one line, and so that no text can pass for a
// line of the record's own.
package quote

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// LineMark stands between lines that are told on one.
const LineMark = " ⏎ "

// First returns at most n bytes of a text, cut between characters.
func First(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for most := n; n > max(0, most-utf8.UTFMax) && !utf8.RuneStart(s[n]); n-- { // what is no UTF-8 is cut anywhere
	}
	return s[:n]
}

// Joined returns two texts with a mark between them, or the one that is not empty.
func Joined(a, mark, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + mark + b
}

// Count returns a number of things in words: 1 line, 2 lines.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// OneLine returns a text on one line, cut at a word if it is longer than n
// bytes. It cannot pass for a part of the record.
func OneLine(s string, n int) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
	return Cut(ownMarks.ReplaceAllString(s, "($1"), n)
}

// Cut returns a text of one line, cut at a word if it is longer than n bytes.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = First(s, n)
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	return s + "…"
}

// Quoted text must not look like a part of the record. Otherwise the answer of a
// tool could pass for the user's words, or end the record. So lines that are quoted
// are indented, and none begins with a label of the record's own.

// A model reads many characters as a blank or as the end of a line, and ignores
// invisible ones.
const unseen = `[\s\v\x{85}\p{Z}\p{Cf}]`

var (
	ownMarks  = regexp.MustCompile(`(?i)\[` + unseen + `*(end` + unseen + `+of` + unseen + `+the` + unseen + `+record|record` + unseen + `+of)`)
	ownLabels = regexp.MustCompile(`(?i)^` + unseen + `*(?:user|agent|changed|as of here|the user answered)(?: *\([^)]*\))?` + unseen + `*:`)
	lineEnd   = strings.NewReplacer("\n", " ", "\r", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")
)

// Line returns a line as it is quoted: on one line, cut if it is longer than 1,600 bytes, and
// with a bar before it if it begins like one of the record's own.
func Line(line string) string {
	line = strings.ToValidUTF8(strings.TrimRight(First(line, 1600), " \t\r"), "")
	line = ownMarks.ReplaceAllString(lineEnd.Replace(line), "($1")
	if ownLabels.MatchString(line) {
		return "| " + strings.TrimLeft(line, " \t")
	}
	return line
}
