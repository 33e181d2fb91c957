// Package report writes the result of a replay as a table, as JSON, and as a
// page.
//
// It promises:
//
//   - the same numbers in all three: every share is computed by package replay.
//   - content in one place: texts are written of the conversation in Result.Shown
//     alone, and on the page alone. Of all others there are names and sizes.
//   - escaped: nothing that was recorded becomes markup, and the page's policy
//     forbids everything but its own style and script.
//   - bounded: what of a long conversation is not on the page is counted and said.
//   - offline: the page needs no network.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"laconic/number"
	"laconic/replay"
)

// JSON writes a result for programs: the numbers, and the shares that follow from
// them.
func JSON(w io.Writer, r *replay.Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// nameOf returns the name of a file in tables: its base name, or all of it where another
// file has the same.
func nameOf(r *replay.Result, file string) string {
	name := filepath.Base(file)
	for _, f := range append(slices.Clip(r.Files), r.Total) {
		if f.File != file && filepath.Base(f.File) == name {
			return file
		}
	}
	return name
}

// modelBudgets returns what the models' own budgets are, in one sentence; "" if
// no budget is a model's own. JSON has all.
func modelBudgets(r *replay.Result) string {
	const most = 12
	var all []string
	for i, m := range r.Models {
		if i == most {
			all = append(all, fmt.Sprintf("and %d more", len(r.Models)-i))
			break
		}
		name := "without a model"
		if m.Model != "" {
			name = strings.Trim(strconv.Quote(m.Model), `"`) // a recording may call it anything
		}
		all = append(all, fmt.Sprintf("%s %s (%s)", name, number.Of(m.Tokens), number.Count(m.Conversations, "conversation")))
	}
	return strings.Join(all, ", ")
}
