package prompt

import (
	"regexp"
	"strings"
)

// thoughts are the tags around reasoning.
var thoughts = regexp.MustCompile(`(?i)[<◁](/?)(think|thinking|thought|reasoning)\s*[>▷]`)

// withoutThoughts takes away the reasoning that some servers leave in front of
// an answer; what is left is empty where it never ends. The templates of
// DeepSeek-R1, QwQ and Qwen3-Thinking open the tag in the prompt, so only its
// end may be there, on a line of its own. Tags behind the beginning of a
// summary are talked about: work on such tags is summarized too.
func withoutThoughts(s string) string {
	cut, at := 0, 0 // blanks alone stand between cut and at
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

// aloneOnLine tells whether only blanks stand beside a part on its line.
func aloneOnLine(s string, from, to int) bool {
	before := strings.TrimRight(s[:from], " \t\r")
	after := strings.TrimLeft(s[to:], " \t\r")
	return (before == "" || before[len(before)-1] == '\n') && (after == "" || after[0] == '\n')
}

// inQuotes tells whether the same quote stands on both sides of a part.
func inQuotes(s string, from, to int) bool {
	return from > 0 && to < len(s) && s[from-1] == s[to] && strings.IndexByte("\"'`", s[to]) >= 0
}
