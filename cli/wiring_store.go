package cli

import (
	"laconic/cli/findings"
	"laconic/config"
	"laconic/store"
)

// storeFacts returns how the store of a configuration is; nil for one in memory, and
// where none was opened.
func storeFacts(c *config.Config, v *store.Vault) *findings.Store {
	where := storeWords(c)
	if where == "" || v == nil {
		return nil
	}
	known := &findings.Store{Where: where}
	if fault := v.State().Fault; fault.Says != "" {
		known.Faults = []store.Fault{fault}
	}
	return known
}
