package replay

import (
	"encoding/json"
	"math"
	"slices"
)

// Spread is how a number varies over files: the least, the quartiles and the
// most.
type Spread struct {
	Files  int     `json:"files"` // that have the number
	Least  float64 `json:"least"`
	Low    float64 `json:"quarter"`
	Median float64 `json:"median"`
	High   float64 `json:"three_quarters"`
	Most   float64 `json:"most"`
}

// MarshalJSON returns null for a number that no file has.
func (s Spread) MarshalJSON() ([]byte, error) {
	if s.Files == 0 {
		return []byte("null"), nil
	}
	type plain Spread
	return json.Marshal(plain(s))
}

// quantile returns the quantile q of sorted numbers, of which there is one at
// least. Between two numbers it is their mean, weighed by its distance.
func quantile(sorted []float64, q float64) float64 {
	below, part := math.Modf(q * float64(len(sorted)-1))
	i := int(below)
	return sorted[i] + part*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}

// spreadOf returns the spread of numbers; the zero Spread for none.
func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	at := func(q float64) float64 { return quantile(values, q) }
	return Spread{Files: len(values), Least: at(0), Low: at(0.25), Median: at(0.5), High: at(0.75), Most: at(1)}
}

// Spreads are how the numbers of one policy under one budget vary over the files.
// Those about facts are of the files that have facts.
type Spreads struct {
	Policy    string `json:"policy"`
	Budget    string `json:"budget"`
	Recall    Spread `json:"recall"`
	Verbatim  Spread `json:"verbatim_recall"`
	FitRecall Spread `json:"fit_recall"`
	Cost      Spread `json:"cost"`
}

// SpreadOf returns how a number of Total.Rows[row] varies over the files.
func (r *Result) SpreadOf(row int, of func(*Numbers) float64) Spread {
	return r.spread(row, of, func(*Numbers) bool { return true })
}

// SpreadOfFacts returns the same over the files that have facts.
func (r *Result) SpreadOfFacts(row int, of func(*Numbers) float64) Spread {
	return r.spread(row, of, func(n *Numbers) bool { return n.Facts > 0 })
}

func (r *Result) spread(row int, of func(*Numbers) float64, has func(*Numbers) bool) Spread {
	var values []float64
	for i := range r.Files {
		if n := &r.Files[i].Rows[row].Numbers; has(n) {
			values = append(values, of(n))
		}
	}
	return spreadOf(values)
}

// spreads returns the spreads of all rows, or nil for less than two files.
func (r *Result) spreads() (all []Spreads) {
	if len(r.Files) < 2 {
		return nil
	}
	for i := range r.Total.Rows {
		all = append(all, Spreads{
			Policy: r.Total.Rows[i].Policy, Budget: r.Total.Rows[i].Budget,
			Recall: r.SpreadOfFacts(i, (*Numbers).Recall), Verbatim: r.SpreadOfFacts(i, (*Numbers).VerbatimRecall),
			FitRecall: r.SpreadOfFacts(i, (*Numbers).FitRecall), Cost: r.SpreadOf(i, (*Numbers).Cost),
		})
	}
	return all
}
