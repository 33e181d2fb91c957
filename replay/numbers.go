package replay

import (
	"reflect"
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
	// Kept is counted at the requests of Over.
	Kept
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
	// Failures is the number of broken promises that the policy claims.
	Failures int `json:"failures"`
	// Took is how long the policy took. It is not the same twice.
	Took time.Duration `json:"took_ns"`

	recalls []float64 // of the conversations with facts
}

// Kept counts what requests held of what the calls after them used.
type Kept struct {
	// Facts are the values that the next calls used. Recalled were in the request,
	// Verbatim with their surroundings.
	Facts    int `json:"facts"`
	Recalled int `json:"recalled"`
	Verbatim int `json:"verbatim"`
	// Hard are the facts whose last message had left the request or was changed,
	// with those of them that were in the request all the same.
	Hard         int `json:"hard"`
	HardRecalled int `json:"hard_recalled"`
	HardVerbatim int `json:"hard_verbatim"`
	// Calls are those with facts, CallsWhole those of which the request had all.
	Calls      int `json:"calls"`
	CallsWhole int `json:"calls_whole"`
	// Edits are the calls that replace lines which the client's messages showed,
	// EditsShown those of which the request showed all of these lines.
	Edits      int `json:"edits"`
	EditsShown int `json:"edits_shown"`
}

// add adds other measurements.
func (n *Numbers) add(o *Numbers) {
	sum(reflect.ValueOf(n).Elem(), reflect.ValueOf(o).Elem())
	n.recalls = append(n.recalls, o.recalls...)
}

// sum adds each number of a struct to the same one of another.
func sum(into, more reflect.Value) {
	for i := range into.NumField() {
		switch f := into.Field(i); f.Kind() {
		case reflect.Struct:
			sum(f, more.Field(i))
		case reflect.Float64:
			f.SetFloat(f.Float() + more.Field(i).Float())
		case reflect.Int, reflect.Int64:
			f.SetInt(f.Int() + more.Field(i).Int())
		}
	}
}

// Recall returns the share of the facts that were in the request, 0 to 1. This
// and every other share of nothing is 1.
func (n *Numbers) Recall() float64 { return share(n.Recalled, n.Facts) }

// Cost returns the bill relative to sending everything: 1 is no gain.
func (n *Numbers) Cost() float64 { return share(n.Bill, n.Full) }

func share[N int | float64](part, whole N) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}
