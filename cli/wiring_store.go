package cli

import (
	"sync/atomic"

	"laconic/cli/findings"
	"laconic/config"
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

// facts returns how the store of a configuration is; nil for one in memory.
func (s *openedStore) facts(c *config.Config) *findings.Store {
	where := storeWords(c)
	if where == "" || s.vault.Load() == nil {
		return nil
	}
	known := &findings.Store{Where: where}
	if now := s.state(); now.Fault != "" {
		known.Faults = []store.Fault{{Says: now.Fault, Fix: now.Fix}}
	}
	return known
}
