package cli

import (
	"strings"
	"sync/atomic"

	"laconic/config"
	"laconic/tokenize"
)

// tokenizers returns those that the models of a configuration can need. The estimates of
// others are made from o200k_base, and any model may be one of OpenAI's.
func tokenizers(c *config.Config) []string {
	need := []string{"o200k_base", "cl100k_base"}
	for _, m := range c.Models {
		if m.Tokenizer != "" {
			need = append(need, m.Tokenizer)
		} else if !strings.Contains(m.Match, "*") {
			need = append(need, tokenize.For(m.Match).Name())
		}
	}
	return need
}

// loading tracks whether the tables of the tokenizers are loaded.
type loading struct{ done atomic.Bool }

// load builds the tables, some tenths of a second each, in the background while serve
// begins to listen. A request that comes earlier waits for the tables that it needs: the
// same conversation must get the same plan whenever it comes, so no request is counted
// by an estimate meanwhile. A reload may need more tables.
func (l *loading) load(names []string) {
	for _, name := range names {
		if k, err := tokenize.Named(name); err == nil { // the configuration is valid
			k.Load()
		}
	}
	l.done.Store(true)
}

// starting reports whether tables are still to be loaded.
func (l *loading) starting() bool { return !l.done.Load() }
