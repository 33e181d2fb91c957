package digest

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// firstBytes returns at most n bytes of a text, cut between characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// lastBytes returns at most n bytes of the end of a text, cut between characters.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := len(s) - n
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// lineEnds returns the index of the end of the line at an index.
func lineEnds(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// count returns a number of things in words: 1 line, 2 lines.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// countLines returns how many lines a text has.
func countLines(text string) int { return strings.Count(strings.TrimRight(text, "\n"), "\n") + 1 }

// OneLine returns a text on one line, cut at a word if it is longer than n
// bytes. It cannot pass for a part of the record.
func OneLine(s string, n int) string {
	return cutAt(quote(s, len(s)), n)
}

// cutAt returns a text of one line, cut at a word if it is longer than n bytes.
func cutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = firstBytes(s, n)
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	return s + "…"
}

// FirstLine returns the first line that says something in the first n bytes of
// a result, unwrapped.
func FirstLine(text string, n int) string {
	r := resultOf(firstBytes(text, n), searches)
	line, _, _ := strings.Cut(strings.TrimLeft(r.text, "\n"), "\n")
	return line
}

// hashOf returns a hash of a line without the blanks around it.
func hashOf(line string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(line) {
		h = (h ^ uint64(line[i])) * 1099511628211
	}
	return h
}

var item = regexp.MustCompile(`^[ \t]*([-*•]|[0-9]+[.)]) `)

// firstWord returns the word that a text begins with, in lower case, and what
// follows it.
func firstWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " ")
	i := 0
	for i < len(text) && (class[text[i]]&(lower|upper) != 0 || text[i] == '\'') {
		i++
	}
	return strings.ToLower(text[:i]), text[i:]
}
