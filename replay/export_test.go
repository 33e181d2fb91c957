package replay

import (
	"iter"
	"strings"

	"laconic/compact"
)

// Trusting makes a replay quick: it takes a record from the request before if no
// epoch came between, as the policy promises that it would be the same.
func (o *Options) Trusting() {
	o.as = func(p *compact.Policy) *compact.Policy {
		with := *p
		with.Records = records{}.make
		return &with
	}
}

// asWritten is another extraction, the one of the facts that lie beside the real
// conversations. It takes each value also with the punctuation around it, and
// capitalised plain words.
var asWritten = extraction{
	values: func(text string) iter.Seq2[string, bool] {
		return func(yield func(string, bool) bool) {
			for v := range strings.FieldsFuncSeq(text, notInValue) {
				if len(v) < shortestValue {
					continue
				}
				if !yield(v, false) {
					return
				}
				if bare := strings.Trim(v, "./:"); len(bare) < len(v) && len(bare) >= shortestValue && !yield(bare, false) {
					return
				}
			}
		}
	},
	concrete: func(v string) bool {
		return strings.ContainsAny(v, "0123456789_./@") || len(v) >= 8 && isUpper(v[0])
	},
}
