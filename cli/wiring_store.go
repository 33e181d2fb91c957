package cli

import (
	"sync/atomic"

	"laconic/cli/findings"
	"laconic/config"
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

// facts returns how the store of a configuration is; nil for one in memory.
func (s *openedStore) facts(c *config.Config) *findings.Store {
	where := storeWords(c)
	if where == "" || s.vault.Load() == nil {
		return nil
	}
	known := &findings.Store{Where: where}
	if now := s.state(); now.Fault.Says != "" {
		known.Faults = []store.Fault{now.Fault}
	}
	return known
}
