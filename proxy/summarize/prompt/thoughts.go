package prompt

import (
	"regexp"
	"strings"
)

// thoughts are the tags around reasoning.
var thoughts = regexp.MustCompile(`(?i)[<◁](/?)(think|thinking|thought|reasoning)\s*[>▷]`)

// withoutThoughts returns an answer without the reasoning that some servers leave
// in front of it, and "" if that does not end. The templates of DeepSeek-R1, QwQ
// and Qwen3-Thinking open the tag in the prompt, so the answer may have only its
// end, on a line of its own. Later tags are part of the summary: work on such tags
// is summarized too.
func withoutThoughts(s string) string {
	cut, at := 0, 0 // only blanks are between cut and at
	open := ""
	for _, m := range thoughts.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[0], m[1]
		name, ends := strings.ToLower(s[m[4]:m[5]]), m[3] > m[2]
		if inQuotes(s, from, to) {
			continue
		}
		for at < from && open == "" && strings.IndexByte(" \t\r\n", s[at]) >= 0 {
			at++
		}
		switch first := at == from; {
		case open != "":
			if ends && open == name {
				cut, at, open = to, to, ""
			}
		case !ends && first:
			open = name
		case !ends:
			return s[cut:]
		case first, aloneOnLine(s, from, to):
			cut, at = to, to
		}
	}
	if open != "" {
		return ""
	}
	return s[cut:]
}

// aloneOnLine reports whether only blanks are beside a part on its line.
func aloneOnLine(s string, from, to int) bool {
	before := strings.TrimRight(s[:from], " \t\r")
	after := strings.TrimLeft(s[to:], " \t\r")
	return (before == "" || before[len(before)-1] == '\n') && (after == "" || after[0] == '\n')
}

// inQuotes reports whether the same quote is on both sides of a part.
func inQuotes(s string, from, to int) bool {
	return from > 0 && to < len(s) && s[from-1] == s[to] && strings.IndexByte("\"'`", s[to]) >= 0
}
