package replay

import (
	"fmt"
	"time"
)

// Numbers are the measurements of one policy under one budget, summed over
// conversations. Tokens are those of the counter.
type Numbers struct {
	Conversations int `json:"conversations"`
	Requests      int `json:"requests"`
	// Over are the requests whose full size exceeds the budget, Fits those of
	// them that were within it when sent.
	Over int `json:"over"`
	Fits int `json:"fits"`
	// Fair are those of Over whose fixed part, instructions, first and newest
	// user message take less than four fifths of the budget; FairFits those of
	// them that were within it when sent.
	Fair     int `json:"fair"`
	FairFits int `json:"fair_fits"`
	// Paired are the requests whose pairs a strict upstream takes.
	Paired int `json:"paired"`
	// Facts are the values that the next call used, at the requests of Over.
	// Recalled were in the request, Verbatim with their surroundings.
	// RecalledFit and VerbatimFit are those in a request within its budget: a
	// model learns nothing from a request that the upstream refuses.
	Facts       int `json:"facts"`
	Recalled    int `json:"recalled"`
	Verbatim    int `json:"verbatim"`
	RecalledFit int `json:"recalled_fit"`
	VerbatimFit int `json:"verbatim_fit"`
	// Newest are the requests of Over that end with tool results, NewestWhole
	// those of them that were sent with these results unchanged.
	Newest      int `json:"newest"`
	NewestWhole int `json:"newest_whole"`
	// Paths are those that messages wrote which had left the request or were
	// shortened, summed over the requests of Over; Named are those that the
	// request still named.
	Paths int `json:"paths"`
	Named int `json:"paths_named"`
	// Repeats are the calls that the recording makes again, with the same
	// arguments, Refetched those whose earlier result was not in the request, or
	// shortened. The recorded agent had all of them.
	Repeats   int `json:"repeats"`
	Refetched int `json:"refetched"`
	// Constraints are measured on copies.
	Constraints Constraints `json:"constraints"`
	// Epochs is the number of epochs, PrefixBreaks the number of requests that
	// do not start with the whole previous request.
	Epochs       int `json:"epochs"`
	PrefixBreaks int `json:"prefix_breaks"`
	// Sent are all tokens sent, Cached those served from a prompt cache, Bill
	// their price. Full is the bill of sending everything.
	Sent   int     `json:"tokens_sent"`
	Cached int     `json:"tokens_cached"`
	Bill   float64 `json:"bill"`
	Full   float64 `json:"full_bill"`
	// BillFilling and FullFilling are the same with a write price of 1.25.
	BillFilling float64 `json:"bill_write_1_25"`
	FullFilling float64 `json:"full_bill_write_1_25"`
	// Failures is the number of broken promises that the policy claims.
	Failures int `json:"failures"`

	times times
	// For the means over conversations, in which each counts once.
	costs, recalls float64
	withFacts      int
}

// sample is one request whose full size exceeds the budget.
type sample struct {
	within, fair              bool // see Fits and Fair
	facts, recalled, verbatim int
	results, newest           bool // see Newest and NewestWhole
	paths, named              int  // see Paths and Named
}

// count adds a sample.
func (n *Numbers) count(s sample) {
	n.Over++
	n.Facts += s.facts
	n.Recalled += s.recalled
	n.Verbatim += s.verbatim
	n.Paths += s.paths
	n.Named += s.named
	if s.results {
		n.Newest++
		if s.newest {
			n.NewestWhole++
		}
	}
	if s.fair {
		n.Fair++
	}
	if !s.within {
		return
	}
	n.Fits++
	n.RecalledFit += s.recalled
	n.VerbatimFit += s.verbatim
	if s.fair {
		n.FairFits++
	}
}

// finish ends the measurement of one conversation.
func (n *Numbers) finish() {
	n.costs = n.Cost()
	if n.Facts > 0 {
		n.recalls, n.withFacts = n.Recall(), 1
	}
}

// add adds other measurements.
func (n *Numbers) add(o *Numbers) {
	n.Conversations += o.Conversations
	n.Requests += o.Requests
	n.Over += o.Over
	n.Fits += o.Fits
	n.Fair += o.Fair
	n.FairFits += o.FairFits
	n.Paired += o.Paired
	n.Facts += o.Facts
	n.Recalled += o.Recalled
	n.Verbatim += o.Verbatim
	n.RecalledFit += o.RecalledFit
	n.VerbatimFit += o.VerbatimFit
	n.Newest += o.Newest
	n.NewestWhole += o.NewestWhole
	n.Paths += o.Paths
	n.Named += o.Named
	n.Repeats += o.Repeats
	n.Refetched += o.Refetched
	n.Constraints.add(&o.Constraints)
	n.Epochs += o.Epochs
	n.PrefixBreaks += o.PrefixBreaks
	n.Sent += o.Sent
	n.Cached += o.Cached
	n.Bill += o.Bill
	n.Full += o.Full
	n.BillFilling += o.BillFilling
	n.FullFilling += o.FullFilling
	n.Failures += o.Failures
	n.times.add(&o.times)
	n.costs += o.costs
	n.recalls += o.recalls
	n.withFacts += o.withFacts
}

// Recall returns the share of the facts that were in the request, 0 to 1. This
// and every other share of nothing is 1.
func (n *Numbers) Recall() float64 { return share(n.Recalled, n.Facts) }

// VerbatimRecall returns Recall with the surroundings.
func (n *Numbers) VerbatimRecall() float64 { return share(n.Verbatim, n.Facts) }

// FitRecall returns Recall, with facts counted only in requests within the budget.
func (n *Numbers) FitRecall() float64 { return share(n.RecalledFit, n.Facts) }

// FitVerbatim returns VerbatimRecall, with facts counted only in requests within
// the budget.
func (n *Numbers) FitVerbatim() float64 { return share(n.VerbatimFit, n.Facts) }

// Valid returns the share of the requests whose pairs a strict upstream takes.
func (n *Numbers) Valid() float64 { return share(n.Paired, n.Requests) }

// Cost returns the bill relative to sending everything: 1 is no gain.
func (n *Numbers) Cost() float64 { return relative(n.Bill, n.Full) }

// FillingCost returns Cost at a provider that charges for filling its cache.
func (n *Numbers) FillingCost() float64 { return relative(n.BillFilling, n.FullFilling) }

// MeanCost returns the mean of the costs of conversations, whatever their length.
func (n *Numbers) MeanCost() float64 { return mean(n.costs, n.Conversations) }

// MeanRecall returns the mean recall of the conversations with facts.
func (n *Numbers) MeanRecall() float64 { return mean(n.recalls, n.withFacts) }

// Took returns the time within which a share q of the requests were compacted,
// rounded up by at most 5 %. Counts of texts that were seen before are cached.
func (n *Numbers) Took(q float64) time.Duration { return n.times.quantile(q) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

func relative(bill, full float64) float64 {
	if full == 0 {
		return 1
	}
	return bill / full
}

func mean(sum float64, n int) float64 {
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}

// Thousands writes 1234567 as 1,234,567.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes "1 request" or "1,234 requests".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Thousands(n) + " " + what + "s"
}
