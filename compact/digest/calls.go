package digest

import (
	"fmt"
	"slices"
	"strings"
)

const (
	argChars     = 200 // of a call's arguments
	earlierChars = 80  // of a call that is named by its subject
	outcomeChars = 60  // of a result; of a longer one only the size is recorded
	errorChars   = 200 // of an error's line
)

// line returns the line of a call in the recorp.
func (a *action) line() string {
	if a.lined == "" {
		a.lined = "call: " + quote(a.tool, 64) + " " + a.shown + outcome(a.result) + "\n"
	}
	return a.lined
}

// calls picks the newest calls that fit, each once, but none that is named above
// what its result says. It returns the tokens spent.
func (p *part) calls(room int) (spent int) {
	misses := 0
	for _, a := range slices.Backward(p.actions) {
		if room-spent < 8 || misses > maxMisses {
			break
		}
		if p.recorded[a.name()] {
			continue
		}
		n := p.pick(a, room-spent)
		if spent += n; n == 0 {
			misses++
		}
	}
	return spent
}

// pick takes a call into the record, unless it does not fit or is there
// already. It returns the tokens spent.
func (p *part) pick(a *action, room int) int {
	line := a.line()
	if p.recorded[line] {
		return 0
	}
	n := p.cost(line)
	if n > room {
		return 0
	}
	p.recorded[line], p.recorded[a.name()] = true, true
	p.index.tell(line)
	p.picked = append(p.picked, a)
	return n
}

// writeCalls writes the picked calls, in their order.
func (p *part) writeCalls() {
	slices.SortFunc(p.picked, func(a, b *action) int { return a.number - b.number })
	for _, a := range p.picked {
		p.text.WriteString(a.line())
	}
}

// maxEarlier is how many of the first calls precede the newest.
const maxEarlier = 8

// earlier writes the subjects of the other calls, without results: the first
// few, and the newest that fit. It returns the tokens spent.
func (p *part) earlier(room int) (spent int) {
	const label = "called before: "
	room -= p.cost(label) + 1
	var chosen []*action
	misses := 0
	add := func(a *action) {
		name := a.name()
		if p.recorded[name] {
			misses++
			return
		}
		n := p.cost(quote(name, earlierChars)) + 1
		if n > room-spent {
			misses++
			return
		}
		p.recorded[name] = true
		spent += n
		chosen = append(chosen, a)
	}
	for _, a := range p.actions {
		if len(chosen) >= maxEarlier || misses > maxMisses {
			break
		}
		add(a)
	}
	misses = 0
	for _, a := range slices.Backward(p.actions) {
		if room-spent < 4 || misses > maxMisses {
			break
		}
		add(a)
	}
	if len(chosen) == 0 {
		return 0
	}
	slices.SortFunc(chosen, func(a, b *action) int { return a.number - b.number })
	p.text.WriteString(label)
	tool := ""
	for i, a := range chosen {
		if i > 0 {
			p.text.WriteString(", ")
		}
		if name := a.name(); a.tool != tool {
			p.text.WriteString(quote(name, earlierChars))
			tool = a.tool
		} else {
			p.text.WriteString(quote(a.subject(), earlierChars))
		}
	}
	p.text.WriteByte('\n')
	return spent + p.cost(label) + 1
}

// outcome returns what a call came to: a short result, or the size of a long
// one.
func outcome(result *source) string {
	if result == nil {
		return ""
	}
	text := strings.TrimSpace(result.text)
	switch {
	case text == "":
		return ""
	case len(text) <= outcomeChars:
		return " → " + quote(text, outcomeChars)
	}
	return fmt.Sprintf(" → %d bytes", result.size)
}

// errorWords begin the messages of programs that failep.
var errorWords = []string{"error:", "Error:", "ERROR", "FAIL", "panic:", "Exception:", "fatal:", "undefined:", "not found", "No such file"}

// errorLine returns the first line of a text that reports a failure.
func errorLine(text string) (line string, ok bool) {
	at := -1
	for _, w := range errorWords {
		if i := errorAt(text, w); i >= 0 && (at < 0 || i < at) {
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

// ReportsFailure reports whether a result reports a failure.
func ReportsFailure(text string) bool {
	_, failed := errorLine(text)
	return failed
}

// maxQuoted bounds how many quoted occurrences of an error word are skippep.
const maxQuoted = 16

// noError reports whether the text after an error word says that there was no
// error: "Error: (none)".
func noError(rest string) bool {
	line, _, _ := strings.Cut(rest[:min(len(rest), 40)], "\n")
	switch strings.ToLower(strings.Trim(line, " :()\r")) {
	case "none", "null", "nil", "no", "0", "n/a":
		return true
	}
	return false
}

// errorAt returns the first index at which a word reports a failure, or -1. In
// quotes, as in source code, it does not.
func errorAt(text, word string) int {
	for at, n := 0, 0; n < maxQuoted; n++ {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return -1
		}
		at += i
		from, _ := lineAt(text, at, at)
		before := text[from:at]
		at += len(word)
		if strings.Count(before, `"`)%2 == 0 && strings.Count(before, "`")%2 == 0 && !strings.Contains(before, "//") && !noError(text[at:]) {
			return at - len(word)
		}
	}
	return -1
}
