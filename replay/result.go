package replay

import (
	"fmt"
	"slices"

	"laconic/number"
	"laconic/replay/recording"
	"laconic/view"
)

// Result is the result of a replay.
type Result struct {
	Policies []string `json:"policies"`
	Budgets  []Budget `json:"budgets"`
	Prices   Prices   `json:"prices"`
	// Files are the files in order, without those in which nothing was measured.
	Files []FileResult `json:"files"`
	// Total is all conversations together.
	Total FileResult `json:"total"`
	// Left is the number of conversations that were left out because their peak
	// is too small or they have no request.
	Left int `json:"left_out"`
	// Failures are the broken promises, each with its first time.
	Failures []Failure `json:"failures,omitempty"`
	// Unread are the files, lines and elements that could not be read, in order.
	Unread []recording.Unread `json:"unread,omitempty"`
	// Shown is the conversation that Options.Show names, or nil. It is not part of
	// the JSON, which has no content.
	Shown *view.Comparison `json:"-"`
}

// FileResult holds the measurements of one file.
type FileResult struct {
	File string `json:"file"`
	// Rows are ordered by budget, then by policy.
	Rows []Row `json:"rows"`
}

// Row holds the measurements of one policy under one budget.
type Row struct {
	Policy string `json:"policy"`
	Budget string `json:"budget"`
	Numbers
}

// blank returns the empty rows of a file.
func (r *Result) blank(file string) FileResult {
	f := FileResult{File: file}
	for _, b := range r.Budgets {
		for _, p := range r.Policies {
			f.Rows = append(f.Rows, Row{Policy: p, Budget: b.String()})
		}
	}
	return f
}

// take adds one conversation. They come in the order of the files.
func (r *Result) take(one *replayed) {
	if one.runs == nil {
		r.Left++
		return
	}
	at := slices.IndexFunc(r.Files, func(f FileResult) bool { return f.File == one.file })
	if at < 0 {
		at = len(r.Files)
		r.Files = append(r.Files, r.blank(one.file))
	}
	for n := range one.runs {
		r.Files[at].Rows[n].add(&one.runs[n])
		r.Total.Rows[n].add(&one.runs[n])
	}
	for _, f := range one.failures { // of each policy, budget and promise the first is kept
		i := slices.IndexFunc(r.Failures, func(o Failure) bool { return o.Policy == f.Policy && o.Budget == f.Budget && o.Promise == f.Promise })
		if i < 0 {
			i, r.Failures = len(r.Failures), append(r.Failures, f)
		}
		r.Failures[i].Times++
	}
}

// Failure is a promise that a policy claims and broke under a budget.
type Failure struct {
	Policy  string `json:"policy"`
	Budget  string `json:"budget"`
	Promise string `json:"promise"`
	// Times is the number of requests. The fields below are the first's.
	Times        int    `json:"times"`
	File         string `json:"file"`
	Conversation string `json:"conversation"`
	// Messages is the length of the request as the client sent it.
	Messages int    `json:"messages"`
	Detail   string `json:"detail"`
}

// String returns the sentence for the user.
func (f Failure) String() string {
	return fmt.Sprintf("%s under %s broke the promise %q %s, first in %s, request of %s: %s",
		f.Policy, f.Budget, f.Promise, number.Count(f.Times, "time"), f.Conversation, number.Count(f.Messages, "message"), f.Detail)
}
