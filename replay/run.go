package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"laconic/compact"
	"laconic/number"
	"laconic/replay/recording"
)

// Policy is a policy to measure.
type Policy struct {
	// Name is its name in tables.
	Name   string
	Policy *compact.Policy
	// Claims are the names of the promises that are checked on every request.
	Claims []string
}

// Budget is a budget to measure under: that of each conversation's model, a
// number of tokens, or a share of each conversation's own peak.
type Budget struct {
	Model  bool    `json:"model,omitempty"`
	Tokens int     `json:"tokens,omitempty"` // if above 0
	Share  float64 `json:"share,omitempty"`  // otherwise; above 0
}

// String returns the name of the budget in tables.
func (b Budget) String() string {
	switch {
	case b.Model:
		return "model's own"
	case b.Tokens > 0:
		return number.Of(b.Tokens)
	}
	return fmt.Sprintf("%g × peak", b.Share)
}

// of returns the budget of one conversation, whose model has the limits l.
func (b Budget) of(peak int, l compact.Limits) compact.Budget {
	switch {
	case b.Model:
	case b.Tokens > 0:
		l.Budget = b.Tokens
	default:
		l.Budget = max(1, int(b.Share*float64(peak)))
	}
	return l.For(0)
}

// Options configure a replay. Files, Policies, Budgets and Known are
// required.
type Options struct {
	// Files are read in order. See [recording.Read] for their formats. - is Stdin.
	Files []string
	Stdin io.Reader
	// Policies are measured side by side, under each of Budgets.
	Policies []Policy
	Budgets  []Budget
	// Model is the model of all conversations; "": the recorded ones.
	Model string
	// Known returns what counts for a model, and what is known or configured of it.
	Known func(model string) (compact.Counter, compact.Limits)
	// MinPeak leaves out conversations with a smaller peak, in tokens.
	MinPeak int
	// Prices; nil: DefaultPrices.
	Prices *Prices
	// Workers is the number of conversations that are measured at once; 0: 2.
	Workers int
	// Show is the ID of the conversation whose texts are added to the result, the first
	// of that name; "": the one with the largest peak, nil: none.
	Show *string
}

// ahead is how many results may wait for an earlier one.
const ahead = 16

// Run replays all conversations of the files. The error is nil, the context's,
// or says what is wrong with the options; a file or a line that cannot be read
// is in Result.Unread. After an error of the context the result holds what was
// measured before it.
func Run(ctx context.Context, o Options) (Result, error) {
	o.Prices = cmp.Or(o.Prices, &DefaultPrices)
	if err := o.Prices.check(); err != nil {
		return Result{}, err
	}
	res := Result{Budgets: o.Budgets, Prices: *o.Prices, Files: []FileResult{}}
	for _, p := range o.Policies {
		res.Policies = append(res.Policies, p.Name)
	}
	res.Total = res.blank("all files")
	ordered := make(chan (<-chan *replayed), ahead) // results in the order of the files
	var unread []recording.Unread
	var show *replayed
	go func() {
		defer close(ordered)
		var workers errgroup.Group
		workers.SetLimit(cmp.Or(o.Workers, 2))
		for _, file := range o.Files {
			for r, bad := range recording.Read(file, o.Stdin) {
				if ctx.Err() != nil {
					return
				}
				if bad != nil {
					unread = append(unread, *bad)
					continue
				}
				result := make(chan *replayed, 1)
				ordered <- result
				workers.Go(func() error {
					result <- o.replay(r)
					return nil
				})
			}
		}
	}()
	for result := range ordered {
		r := <-result
		res.take(r)
		if r.workload == nil || *o.Show != "" && r.ID != *o.Show {
			continue
		}
		if show == nil || *o.Show == "" && r.peak > show.peak {
			show = r
		}
	}
	res.Unread = unread
	if show != nil {
		shown := show.show(ctx, &o.Policies[0], show.budget, *o.Prices)
		if shown.Budget = o.Budgets[0].String(); ctx.Err() == nil {
			res.Shown = shown
		}
	}
	return res, ctx.Err()
}

// replayed is the result of one conversation.
type replayed struct {
	file     string
	runs     []Numbers // by budget, then by policy; nil: left out
	failures []Failure // of all runs, in their order
	// With Options.Show it may be the one to show, under a budget.
	*workload
	budget compact.Budget
}

// replay measures one conversation.
func (o *Options) replay(r *recording.Recording) *replayed {
	if o.Model != "" {
		r.Model = o.Model
	}
	counter, limits := o.Known(r.Model)
	w := prepare(r, counter, *o.Prices)
	out := &replayed{file: r.File}
	if w.peak < o.MinPeak || len(w.turns) == 0 {
		return out
	}
	if o.Show != nil {
		out.workload, out.budget = w, o.Budgets[0].of(w.peak, limits)
	}
	for _, b := range o.Budgets {
		budget := b.of(w.peak, limits)
		for i := range o.Policies {
			numbers, failures := w.measure(&o.Policies[i], budget, b.String(), o)
			out.runs, out.failures = append(out.runs, numbers), append(out.failures, failures...)
		}
	}
	return out
}
