package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"laconic/config"
	"laconic/counting"
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

// loading tracks which tables of the tokenizers are loaded.
type loading struct {
	mu   sync.Mutex
	took map[string]time.Duration
	done bool
}

// load builds the tables, some tenths of a second each, in the background while serve
// begins to listen. A request that comes earlier waits for the tables that it needs: the
// same conversation must get the same plan whenever it comes, so no request is counted
// by an estimate meanwhile. A reload may need more tables.
func (l *loading) load(names []string) {
	for _, name := range names {
		start := time.Now()
		k, err := tokenize.Named(name)
		if err != nil {
			continue // unreachable: the configuration is valid
		}
		k.Load()
		l.mu.Lock()
		if l.took == nil {
			l.took = map[string]time.Duration{}
		}
		l.took[name] = max(l.took[name], time.Since(start))
		l.mu.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
}

// starting reports whether tables are still to be loaded.
func (l *loading) starting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.done
}

// notes returns which tokenizers are loaded, and how many texts of this process
// were counted before.
func (l *loading) notes() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l.took)) {
		fmt.Fprintf(&b, "tokenizer %s: loaded in %d ms\n", name, l.took[name].Milliseconds())
	}
	hits, misses := counting.Stats()
	return b.String() + fmt.Sprintf("texts: %d counted before, %d new\n", hits, misses)
}
