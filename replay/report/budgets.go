package report

import (
	"fmt"
	"strconv"
	"strings"

	"laconic/replay"
)

// mostModels is how many models the table and the page name; JSON has all.
const mostModels = 12

// modelBudgets returns what the models' own budgets are, in one sentence; "" if
// no budget is a model's own.
func modelBudgets(r *replay.Result) string {
	var all []string
	for i, m := range r.Models {
		if i == mostModels {
			all = append(all, fmt.Sprintf("and %d more", len(r.Models)-i))
			break
		}
		all = append(all, fmt.Sprintf("%s %s (%s)", modelName(m.Model), replay.Thousands(m.Tokens), replay.Count(m.Conversations, "conversation")))
	}
	return strings.Join(all, ", ")
}

// modelName returns the name of a recorded model, which may be anything, for one
// line of a terminal.
func modelName(name string) string {
	if name == "" {
		return "without a model"
	}
	quoted := strconv.Quote(name)
	if quoted[1:len(quoted)-1] == name && !strings.ContainsAny(name, " ,") {
		return name
	}
	return quoted
}
