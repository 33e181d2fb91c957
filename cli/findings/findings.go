// Package findings says what is wrong with a set-up, and what to do about it. A row of its
// table turns a fact that others gather into sentences. laconic check, laconic doctor,
// /readyz?verbose and the page read them.
package findings

import (
	"cmp"
	"fmt"

	"laconic/config"
	"laconic/proxy/operate"
	"laconic/proxy/why"
	"laconic/store"
)

// Facts are what is known of a set-up. What is nil is not known.
type Facts struct {
	Config    *config.Config // a valid one
	Hints     []why.Finding  // of Config
	Store     *Store
	Upstreams []operate.Upstream // that requests went to
	Outcomes  []operate.Outcome  // of requests; nil where no proxy runs
	// Running is which program runs, with which configuration.
	Running string
	// Sum returns the sum of a metric's samples, of one outcome or of all ("").
	Sum func(metric, outcome string) float64
}

// Store is how a store is that outlives the process.
type Store struct {
	Where  string
	Faults []store.Fault
}

// table has the rows in the order in which they are told. A row whose fact is not known
// finds nothing.
var table = []struct {
	check string
	find  func(Facts) []why.Finding
}{
	{"configuration", ofConfig},
	{"running", ofRunning},
	{"upstream", ofUpstreams},
	{"store", ofStore},
	{"requests", ofRequests},
	{"counts", ofCounts},
	{"tools", ofTools},
	{"cache", ofCache},
}

// Of returns what is found in the facts.
func Of(facts Facts) (all []why.Finding) {
	for _, row := range table {
		for _, f := range row.find(facts) {
			f.Check = row.check
			all = append(all, f)
		}
	}
	return all
}

func ofConfig(f Facts) []why.Finding {
	if f.Config == nil {
		return nil
	}
	switch {
	case f.Hints != nil:
		return f.Hints
	case f.Config.File() != "":
		return one(why.Fine, f.Config.File()+" is valid", "")
	}
	return one(why.Fine, "no file, every setting has its default", "")
}

func ofRunning(f Facts) []why.Finding {
	if f.Running == "" {
		return nil
	}
	return one(why.Fine, f.Running, "")
}

func ofUpstreams(f Facts) (all []why.Finding) {
	for _, u := range f.Upstreams {
		if u.Down {
			all = append(all, why.Finding{
				State: why.Failure, Says: fmt.Sprintf("%s is down: %d requests in succession failed, the last because %s", u.Upstream, u.Failures, u.Why.Says),
				Fix: cmp.Or(u.Why.Fix, "start it, or correct upstream"),
			})
		}
	}
	return all
}

func ofStore(f Facts) (all []why.Finding) {
	if f.Store == nil {
		return nil
	}
	at := " (" + f.Store.Where + ")"
	for _, fault := range f.Store.Faults {
		all = append(all, why.Finding{State: why.Warning, Says: fault.Says + at, Fix: fault.Fix})
	}
	if all == nil {
		return one(why.Fine, "no fault"+at, "")
	}
	return all
}
