package stage

import (
	"fmt"
	"slices"
	"strings"

	"laconic/compact"
)

const (
	argChars     = 160 // of a call's arguments
	outcomeChars = 60  // a result up to here is told whole, of a longer one its size
	errorChars   = 200 // of an error's line
	lastErrors   = 3
)

// calls writes the newest calls that fit, each only once, in their order, and
// what came of them. It gives the tokens spent.
func (d *digest) calls(room int) (spent int) {
	seen := map[string]bool{}
	results := map[string]*compact.Message{} // of the round, by id
	var lines []string
	for i := range slices.Backward(d.lost) {
		m := &d.lost[i]
		if m.Role.Result() {
			results[m.Answers] = m
			continue
		}
		for _, c := range slices.Backward(m.Calls) {
			line := "call: " + quoted(c.Name, 64) + " " + quoted(c.Arguments.String(), argChars)
			if seen[line] {
				continue
			}
			seen[line] = true
			line += outcome(results[c.ID]) + "\n"
			if n := d.cost(line); n <= room-spent {
				spent += n
				lines = append(lines, line)
			}
		}
		if m.Role == compact.Assistant {
			clear(results)
		}
		if room-spent < 8 {
			break
		}
	}
	d.backward(lines)
	return spent
}

// outcome says what a call came to: a short result, or the size of a long one.
func outcome(result *compact.Message) string {
	if result == nil {
		return ""
	}
	text := strings.TrimSpace(textOf(result))
	switch {
	case text == "":
		return ""
	case len(text) <= outcomeChars:
		return " → " + quoted(text, outcomeChars)
	}
	return fmt.Sprintf(" → %d bytes", len(text))
}

// errors writes the line of the error of the newest results that hold one, in
// their order: what failed last is what an agent is most likely to be at.
func (d *digest) errors(room int) (spent int) {
	var lines []string
	for i := range slices.Backward(d.lost) {
		if len(lines) == lastErrors {
			break
		}
		if m := &d.lost[i]; m.Role.Result() {
			line, ok := errorLine(textOf(m))
			if !ok {
				continue
			}
			line = "error: " + quoted(line, errorChars) + "\n"
			if n := d.cost(line); n <= room-spent && !slices.Contains(lines, line) {
				spent += n
				lines = append(lines, line)
			}
		}
	}
	d.backward(lines)
	return spent
}

// errorWords are how programs begin to say that something failed.
var errorWords = []string{"error:", "Error:", "ERROR", "FAIL", "panic:", "Exception:", "fatal:", "undefined:", "not found"}

// errorLine is the first line of a text that says that something failed.
func errorLine(text string) (line string, ok bool) {
	at := -1
	for _, w := range errorWords {
		if i := strings.Index(text, w); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return "", false
	}
	from := strings.LastIndexByte(text[:at], '\n') + 1
	from = max(from, at-errorChars/2)
	line, _, _ = strings.Cut(text[from:], "\n")
	return line, strings.TrimSpace(line) != ""
}
