package prompt

import (
	"strings"

	"laconic/compact"
)

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
