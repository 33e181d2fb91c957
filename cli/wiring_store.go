package cli

import (
	"cmp"
	"sync/atomic"

	"laconic/proxy/metrics"
	"laconic/store"
)

// openedStore is the store of a process, once there is one.
type openedStore struct{ vault atomic.Pointer[store.Vault] }

// state returns how it is.
func (s *openedStore) state() (now store.State) {
	if v := s.vault.Load(); v != nil {
		now = v.State()
	}
	return now
}

// metrics is state for the page of metrics.
func (s *openedStore) metrics() metrics.StoreState { return metrics.StoreState(s.state()) }

// fault returns what is wrong with a store that other processes share, and whether it is
// such a one.
func (s *openedStore) fault() (fault string, shared bool) {
	now := s.state()
	return now.Fault, now.Operations != nil
}

// notes is the line in /readyz?verbose of a store that is somewhere, as storeWords says.
func (s *openedStore) notes(where string) string {
	if where == "" || s.vault.Load() == nil {
		return ""
	}
	fault, _ := s.fault()
	return "store: " + cmp.Or(fault, "no fault") + " (" + where + ")\n"
}
