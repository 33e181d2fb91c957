package replay

import (
	"fmt"
	"slices"
	"strings"

	"laconic/number"
)

// Failure is a promise that a policy claims and broke under a budget.
type Failure struct {
	Policy  string `json:"policy"`
	Budget  string `json:"budget"`
	Promise string `json:"promise"`
	// Times is the number of requests. What follows is the first of them.
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

// failures are broken promises, each policy, budget and promise once.
type failures []Failure

func (all *failures) add(f Failure) {
	for i := range *all {
		if o := &(*all)[i]; o.Policy == f.Policy && o.Budget == f.Budget && o.Promise == f.Promise {
			o.Times += f.Times
			return
		}
	}
	*all = append(*all, f)
}

// check records the errors about promises that the policy claims. Each error
// starts with the name of the promise and a colon.
func (r *run) check(errs []error, p *Policy, where Failure) {
	for _, err := range errs {
		promise, detail, _ := strings.Cut(err.Error(), ": ")
		if !slices.Contains(p.Claims, promise) {
			continue
		}
		r.Failures++
		where.Policy, where.Promise, where.Detail, where.Times = p.Name, promise, detail, 1
		r.failures.add(where)
	}
}
