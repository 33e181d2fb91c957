package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"laconic/compact"
	"laconic/number"
)

// Setting is what the budget of a request follows from.
type Setting int

// The settings.
const (
	Guess    Setting = iota // the window that its name or default_window says
	Row                     // the budget of the row of models
	Override                // x-laconic-budget
	Window                  // the window of the row of models
	Server                  // the window that the upstream tells, or showed
	Command                 // --budget
)

// Over returns why a request is above its budget. beside is what the window has beside
// the budget, for the answer.
func Over(r *compact.Report, by Setting, beside int) Reason {
	if r.After <= r.Budget {
		return Reason{fmt.Sprintf("%s messages stay, which are more than the upstream takes", number.Of(r.MessagesAfter)), "raise max_messages, if the upstream takes more"}
	}
	says, tools := exceeding(r)
	fix := [...]string{
		Guess:    "set window to %s or more, if the model has one",
		Row:      "set budget to %s or more",
		Override: "set x-laconic-budget to %s or more",
		Window:   "set window to %s or more, if the server runs the model with it",
		Server:   "start the server with a window of %s or more (Ollama: OLLAMA_CONTEXT_LENGTH), or take a model that has it",
		Command:  "set --budget to %s or more",
	}[by]
	if by == Row || by == Override || by == Command {
		beside = 0
	}
	fix = fmt.Sprintf(fix, number.Of(roundUp(r.After+beside)))
	if tools {
		fix += ", or switch off tools"
	}
	return Reason{says, fix}
}

// exceeding names the parts of a request that are above its budget together, and what
// else is large, the largest first. tools reports whether they have a large share in it.
func exceeding(r *compact.Report) (says string, tools bool) {
	p, task := &r.Parts, "the first user message"
	if p.Tasks > 1 {
		task = fmt.Sprintf("the first %d user messages", p.Tasks)
	}
	type part struct {
		name   string
		tokens int
	}
	parts := []part{
		{"tools", r.Fixed},
		{"instructions", p.Instructions},
		{task, p.Task},
		{"the newest user message", p.User},
		{"the newest exchange", p.Exchange},
		{"the record", p.Record},
		{"messages that stay", r.After - r.Fixed - p.Instructions - p.Task - p.User - p.Exchange - p.Record},
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.tokens, a.tokens) })
	var words []string
	sum := 0
	for _, one := range parts {
		if one.tokens <= 0 || sum > r.Budget && one.tokens < r.Budget/4 {
			break
		}
		sum += one.tokens
		tools = tools || one.name == "tools" && one.tokens > r.Budget/4
		words = append(words, one.name+" "+number.Of(one.tokens))
	}
	verb := "exceed"
	if n := len(words); n > 1 {
		words = append(words[:n-2:n-2], words[n-2]+" and "+words[n-1])
	} else if strings.HasPrefix(parts[0].name, "the ") && !strings.HasSuffix(parts[0].name, "s") {
		verb = "exceeds"
	}
	return fmt.Sprintf("%s tokens %s the budget of %s", strings.Join(words, ", "), verb, number.Of(r.Budget)), tools
}

// roundUp rounds up to two digits or thousands, whichever is finer.
func roundUp(n int) int {
	step := 1000
	for step > 1 && n < 10*step {
		step /= 10
	}
	return (n + step - 1) / step * step
}
