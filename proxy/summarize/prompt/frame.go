package prompt

import (
	"strings"

	"laconic/compact"
)

// factsHead is in front of what a summary lost.
const (
	rulesHead = "In the user's words:"
	namesHead = "Also named by the user:"
)

// factsShare is how much of a slot such facts may take: the summary is what the
// agent works from.
const factsShare = 0.3

// With adds to a summary what it lost, rules first, within size tokens.
func With(text string, rules, names []string, size int, cost func(string) int) string {
	text += "\n"
	spent := cost(text)
	room := min(size-spent, int(factsShare*float64(size)))
	add := func(s string) bool {
		n := cost(s) + 1
		if n > room {
			return false
		}
		room -= n
		text += s
		return true
	}
	first := true
	for _, r := range rules {
		line := "- " + r + "\n"
		if first {
			line = rulesHead + "\n" + line
		}
		if add(line) {
			first = false
		}
	}
	first = true
	for _, n := range names {
		word := " " + n
		if first {
			word = namesHead + word
		}
		if add(word) {
			first = false
		}
	}
	return strings.TrimRight(text, "\n")
}

// Text is a summary in its frame, as it stands in a conversation: data about
// so many messages, under the label of its slot, that nothing in it can end. Where it costs more than size
// tokens its last lines are cut off; "" where nothing would be left.
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

// Frame is what the frame of a summary costs under a label, in tokens, about.
func Frame(label string, cost func(string) int) int {
	return cost(compact.SummaryText(label, "", 1000))
}
