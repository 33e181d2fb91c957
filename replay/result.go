package replay

import (
	"encoding/json"
	"slices"

	"laconic/replay/record"
	"laconic/view"
)

// Result is the result of a replay.
type Result struct {
	Policies []string `json:"policies"`
	Budgets  []Budget `json:"budgets"`
	Prices   Prices   `json:"prices"`
	// Models are the models and their budgets, in the order in which they were
	// met, if one of Budgets is the model's own.
	Models []ModelBudget `json:"models,omitempty"`
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
	Unread []record.Unread `json:"unread,omitempty"`
	// Shown is the conversation that Options.Show chose, or nil. It is not part of
	// the JSON, which has no content.
	Shown *view.Conversation `json:"-"`
}

// ModelBudget is the budget that some conversations of a model had.
type ModelBudget struct {
	Model         string `json:"model"`
	Tokens        int    `json:"tokens"`
	Conversations int    `json:"conversations"`
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

// MarshalJSON adds the shares that follow from the numbers. A share of nothing is
// null.
func (r Row) MarshalJSON() ([]byte, error) {
	ratio := func(part, whole int) *float64 {
		if whole == 0 {
			return nil
		}
		s := share(part, whole)
		return &s
	}
	n := &r.Numbers
	return json.Marshal(struct {
		Policy string `json:"policy"`
		Budget string `json:"budget"`
		*Numbers
		Recall         *float64 `json:"recall"`
		VerbatimRecall *float64 `json:"verbatim_recall"`
		HardRecall     *float64 `json:"hard_recall"`
		HardVerbatim   *float64 `json:"hard_verbatim_recall"`
		WholeCalls     *float64 `json:"calls_whole_share"`
		ShownEdits     *float64 `json:"edits_shown_share"`
		LowRecall      float64  `json:"p5_recall"`
		Fit            *float64 `json:"fit"`
		CacheShare     *float64 `json:"cache_share"`
		Cost           float64  `json:"cost"`
	}{
		r.Policy, r.Budget, n, ratio(n.Recalled, n.Facts), ratio(n.Verbatim, n.Facts),
		ratio(n.HardRecalled, n.Hard), ratio(n.Kept.HardVerbatim, n.Hard),
		ratio(n.CallsWhole, n.Calls), ratio(n.EditsShown, n.Edits), n.LowRecall(),
		ratio(n.Fits, n.Over), ratio(n.Cached, n.Sent), n.Cost(),
	})
}

// Failed reports whether a policy broke a promise that it claims.
func (r *Result) Failed() bool {
	return slices.ContainsFunc(r.Total.Rows, func(row Row) bool { return row.Numbers.Failures > 0 })
}

// gathering builds a result, conversation by conversation in the order of the
// files.
type gathering struct {
	Result
	options *Options
	models  map[ModelBudget]int // index in Models, by model and tokens
}

func gather(o *Options) *gathering {
	g := &gathering{options: o, models: map[ModelBudget]int{}}
	g.Prices, g.Budgets, g.Files = *o.Prices, o.Budgets, []FileResult{}
	for _, p := range o.Policies {
		g.Policies = append(g.Policies, p.Name)
	}
	g.Total = g.blank("all files")
	return g
}

// blank returns the empty rows of a file.
func (g *gathering) blank(file string) FileResult {
	f := FileResult{File: file}
	for _, b := range g.options.Budgets {
		for _, p := range g.options.Policies {
			f.Rows = append(f.Rows, Row{Policy: p.Name, Budget: b.String()})
		}
	}
	return f
}

// take adds one conversation.
func (g *gathering) take(r *replayed) {
	if r.left {
		g.Left++
		return
	}
	at := slices.IndexFunc(g.Files, func(f FileResult) bool { return f.File == r.file })
	if at < 0 {
		at = len(g.Files)
		g.Files = append(g.Files, g.blank(r.file))
	}
	g.budgeted(r)
	for n, run := range r.runs {
		g.Files[at].Rows[n].add(&run.Numbers)
		g.Total.Rows[n].add(&run.Numbers)
		for _, f := range run.failures {
			(*failures)(&g.Failures).add(f)
		}
	}
}

// budgeted counts the conversation under its model, if that sets its budget.
func (g *gathering) budgeted(r *replayed) {
	at := slices.IndexFunc(g.Budgets, func(b Budget) bool { return b.Model })
	if at < 0 {
		return
	}
	m := ModelBudget{Model: r.model, Tokens: r.budgets[at]}
	i, known := g.models[m]
	if !known {
		i = len(g.Models)
		g.models[m] = i
		g.Models = append(g.Models, m)
	}
	g.Models[i].Conversations++
}
