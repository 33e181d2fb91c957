package cli

import (
	"context"

	"laconic/store"
)

// checkStore asks a store that processes share for what it is used for.
func checkStore(ctx context.Context, p *patient) (all []finding) {
	if store.Kind(p.Store.Kind) != store.InRedis {
		return nil
	}
	name := store.ShownURL(p.Store.URL)
	faults, err := store.Try(ctx, storeOptions(p.Config))
	if err != nil {
		return []finding{{State: failure, Says: err.Error(), Fix: "laconic check says more"}}
	}
	for _, f := range faults {
		all = append(all, finding{State: warning, Says: name + ": " + f.Says, Fix: f.Fix})
	}
	if all == nil {
		all = []finding{{State: fine, Says: name + " does what it is used for"}}
	}
	return all
}
