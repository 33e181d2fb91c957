package prompt

import (
	"strings"

	"laconic/compact"
)

// factsShare is how much of a slot such facts may take: the summary is what the
// agent works from.
const factsShare = 0.3

// With adds to a summary what it lost, rules first, within size tokens.
func With(text string, rules, names []string, size int, cost func(string) int) string {
	text += "\n"
	room := min(size-cost(text), int(factsShare*float64(size)))
	add := func(head, before, after string, all []string) {
		for _, s := range all {
			line := head + before + s + after
			if n := cost(line) + 1; n <= room {
				text, room, head = text+line, room-n, ""
			}
		}
	}
	add("In the user's words:\n", "- ", "\n", rules)
	add("Also named by the user:", " ", "", names)
	return strings.TrimRight(text, "\n")
}

// Text returns a summary of so many messages in its frame, under the label of its
// slot. Nothing in the summary can end the frame. If the text costs more than size
// tokens the last lines of the summary are cut off; Text returns "" if nothing
// would be left.
func Text(label, summary string, messages, size int, cost func(string) int) string {
	text := compact.SummaryText(label, summary, messages)
	for cost(text) > size {
		at := strings.LastIndexAny(summary[:max(0, len(summary)-len(summary)/20-1)], "\n .")
		if at < leastChars {
			return ""
		}
		summary = strings.TrimRight(summary[:at], " \n")
		text = compact.SummaryText(label, summary, messages)
	}
	return text
}
