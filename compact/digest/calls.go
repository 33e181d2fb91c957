package digest

import (
	"fmt"
	"slices"
	"strings"
)

const (
	argChars     = 200 // of a call's arguments
	earlierChars = 80  // of a call that is told by its subject
	outcomeChars = 60  // a result up to here is told whole, of a longer one its size
	errorChars   = 200 // of an error's line
)

// line is what the record says of a call.
func (a *action) line() string {
	return "call: " + quoted(a.tool, 64) + " " + a.shown + outcome(a.result) + "\n"
}

// calls picks the newest calls that fit, each only once. It returns the tokens
// spent.
func (d *digest) calls(room int) (spent int) {
	misses := 0
	for i := range slices.Backward(d.lost) {
		for c := range slices.Backward(d.actions[i]) {
			n := d.pick(&d.actions[i][c], room-spent)
			if spent += n; n == 0 {
				misses++
			}
		}
		if room-spent < 8 || misses > mostMisses {
			break
		}
	}
	return spent
}

// pick takes a call into the record, if it fits and is not there already. It
// returns the tokens spent.
func (d *digest) pick(a *action, room int) int {
	line := a.line()
	if d.told[line] {
		return 0
	}
	n := d.cost(line)
	if n > room {
		return 0
	}
	d.told[line], d.told[a.name()] = true, true
	d.picked = append(d.picked, a)
	return n
}

// writeCalls writes the calls that were picked, in their order.
func (d *digest) writeCalls() {
	slices.SortFunc(d.picked, func(a, b *action) int { return a.number - b.number })
	for _, a := range d.picked {
		d.text.WriteString(a.line())
	}
}

// mostEarlier is how many of the first calls are told before the newest are.
const mostEarlier = 8

// earlier writes what the other calls were about, without their results: the
// first few, and the newest that fit. It returns the tokens spent.
func (d *digest) earlier(room int) (spent int) {
	const label = "called before: "
	room -= d.cost(label) + 1
	var chosen []*action
	misses := 0
	add := func(a *action) {
		name := a.name()
		if d.told[name] {
			misses++
			return
		}
		n := d.cost(quoted(name, earlierChars)) + 1
		if n > room-spent {
			misses++
			return
		}
		d.told[name] = true
		spent += n
		chosen = append(chosen, a)
	}
	for i := 0; i < len(d.lost) && len(chosen) < mostEarlier && misses <= mostMisses; i++ {
		for c := range d.actions[i] {
			add(&d.actions[i][c])
		}
	}
	misses = 0
	for i := range slices.Backward(d.lost) {
		for c := range slices.Backward(d.actions[i]) {
			add(&d.actions[i][c])
		}
		if room-spent < 4 || misses > mostMisses {
			break
		}
	}
	if len(chosen) == 0 {
		return 0
	}
	slices.SortFunc(chosen, func(a, b *action) int { return a.number - b.number })
	d.text.WriteString(label)
	tool := ""
	for i, a := range chosen {
		if i > 0 {
			d.text.WriteString(", ")
		}
		if name := a.name(); a.tool != tool {
			d.text.WriteString(quoted(name, earlierChars))
			tool = a.tool
		} else {
			d.text.WriteString(quoted(a.subject(), earlierChars))
		}
	}
	d.text.WriteByte('\n')
	return spent + d.cost(label) + 1
}

// outcome says what a call came to: a short result, or the size of a long one.
func outcome(result *source) string {
	if result == nil {
		return ""
	}
	text := strings.TrimSpace(result.text)
	switch {
	case text == "":
		return ""
	case len(text) <= outcomeChars:
		return " → " + quoted(text, outcomeChars)
	}
	return fmt.Sprintf(" → %d bytes", result.size)
}

// errorWords are how programs begin to say that something failed.
var errorWords = []string{"error:", "Error:", "ERROR", "FAIL", "panic:", "Exception:", "fatal:", "undefined:", "not found", "No such file"}

// errorLine is the first line of a text that says that something failed.
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

// ReportsFailure reports whether a result says that something failed.
func ReportsFailure(text string) bool {
	_, failed := errorLine(text)
	return failed
}

// mostQuotes is how many places of a word are looked at that only quote it.
const mostQuotes = 16

// noError reports whether what follows a word for an error says that there was
// none: "Error: (none)".
func noError(rest string) bool {
	line, _, _ := strings.Cut(rest[:min(len(rest), 40)], "\n")
	switch strings.ToLower(strings.Trim(line, " :()\r")) {
	case "none", "null", "nil", "no", "0", "n/a":
		return true
	}
	return false
}

// errorAt is the first place of a word where it says that something failed; in
// quotes, as in a program, it does not. -1 where there is none.
func errorAt(text, word string) int {
	for at, n := 0, 0; n < mostQuotes; n++ {
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
