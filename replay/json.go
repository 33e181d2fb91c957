package replay

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the result for programs: what was counted, and the shares
// that follow from it. Times are microseconds.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// MarshalJSON adds to the numbers the shares that follow from them. A share of
// nothing is null.
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
		FitRecall      *float64 `json:"fit_recall"`
		FitVerbatim    *float64 `json:"fit_verbatim"`
		MeanRecall     float64  `json:"mean_recall"`
		Fit            *float64 `json:"fit"`
		FairFit        *float64 `json:"fair_fit"`
		Valid          *float64 `json:"pairs_valid"`
		CacheShare     *float64 `json:"cache_share"`
		Cost           float64  `json:"cost"`
		MeanCost       float64  `json:"mean_cost"`
		P50            int64    `json:"p50_us"`
		P99            int64    `json:"p99_us"`
	}{
		r.Policy, r.Budget, n, ratio(n.Recalled, n.Facts), ratio(n.Verbatim, n.Facts),
		ratio(n.RecalledFit, n.Facts), ratio(n.VerbatimFit, n.Facts), n.MeanRecall(),
		ratio(n.Fits, n.Over), ratio(n.FairFits, n.Fair), ratio(n.Paired, n.Requests), ratio(n.Cached, n.Sent),
		n.Cost(), n.MeanCost(), n.Took(0.5).Microseconds(), n.Took(0.99).Microseconds(),
	})
}
