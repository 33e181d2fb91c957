package digest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	lineChars = 200 // of a quoted line
	ruleChars = 300 // of a rule, which may continue on the next line
)

// statement returns the line at an index, with the line before or after if the
// sentence continues there. In a long line it returns the sentence.
func statement(text string, at int) (from, to int) {
	from, to = lineAt(text, at, at)
	if cut := to - from; cut >= 2*lineChars || to < len(text) && text[to] != '\n' || from > 0 && text[from-1] != '\n' {
		return sentenceAt(text, at)
	}
	if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[from:to], " \t")); unicode.IsLower(r) && from > 1 && text[from-2] != '\n' {
		if f, t := lineAt(text, from-1, from-1); t == from-1 && t-f > 40 {
			from = f
		}
	}
	for range 2 {
		if to+1 >= len(text) || strings.IndexByte(".!?:;|}", text[to-1]) >= 0 || to-from >= ruleChars {
			break
		}
		f, t := lineAt(text, to+1, to+1)
		if next := text[f:t]; strings.TrimSpace(next) == "" || isItem(next) || to-from < 50 && !isBlank(next[0]) {
			break
		}
		to = t
	}
	return from, to
}

// lineAt returns the line that holds [from, to), or the part of it nearby.
func lineAt(text string, from, to int) (start, end int) {
	low, high := max(0, from-2*lineChars), min(len(text), to+2*lineChars)
	start = low + strings.LastIndexByte(text[low:from], '\n') + 1
	for start > low && start < from && !utf8.RuneStart(text[start]) {
		start++
	}
	if end = high; to < high {
		if i := strings.IndexByte(text[to:high], '\n'); i >= 0 {
			return start, to + i
		}
	}
	for end > to && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return start, end
}

// sentenceAt returns the sentence at an index of a long line.
func sentenceAt(text string, at int) (from, to int) {
	from, to = lineAt(text, at, at)
	if i := strings.LastIndex(text[from:at], ". "); i >= 0 {
		from += i + 2
	} else if at-from > lineChars/2 {
		from = at - lineChars/2
		from += strings.IndexByte(text[from:at], ' ') + 1
	}
	if i := strings.Index(text[at:to], ". "); i >= 0 {
		to = at + i + 1
	}
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	return from, to
}

var item = regexp.MustCompile(`^[ \t]*([-*•]|[0-9]+[.)]) `)

// isItem reports whether a line begins like a list item: -, *, 1. or 1).
func isItem(line string) bool { return item.MatchString(firstBytes(line, 64)) }

// itemsAround returns the items around an item of a list, at most most on each
// side, and the end of the list.
func itemsAround(text string, from, most int) (items []string, end int) {
	start := from
	for range most {
		f, _ := lineAt(text, max(0, start-1), max(0, start-1))
		if start == 0 || !isItem(text[f:]) && !isBlank(text[f]) || strings.TrimSpace(text[f:start]) == "" {
			break
		}
		start = f
	}
	for at := start; at < len(text) && len(items) < 2*most; {
		f, t := statement(text, at)
		if isItem(text[f:]) && f >= at {
			items = append(items, OneLine(text[f:t], ruleChars))
		} else if t <= at || strings.TrimSpace(text[at:t]) == "" || !isBlank(text[at]) {
			break
		}
		at = t + 1
		end = at
	}
	return items, end
}

// OneLine returns a text on one line, cut at a word if it is longer than n
// bytes. It cannot pass for a part of the record.
func OneLine(s string, n int) string {
	s = quote(s, len(s))
	if len(s) <= n {
		return s
	}
	s = firstBytes(s, n)
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	return s + "…"
}
