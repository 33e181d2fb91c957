package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"laconic/config"
	"laconic/counting"
	"laconic/tokenize"
)

// tokenizers returns those that the models of a configuration can need. A row for
// many models needs all encodings: its estimates are made from o200k_base, and
// gpt-4 may be among them.
func tokenizers(c *config.Config) []string {
	var need []string
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(need, name) {
				need = append(need, name)
			}
		}
	}
	many := !slices.ContainsFunc(c.Models, config.Model.Everything) // other models have a row of their own then
	for _, m := range c.Models {
		switch {
		case m.Tokenizer != "":
			add(m.Tokenizer)
		case strings.Contains(m.Match, "*"):
			many = true
		default:
			add(tokenize.For(m.Match).Name())
		}
	}
	if many {
		add("o200k_base", "cl100k_base")
	}
	return need
}

// loading tracks which tables of the tokenizers are loaded.
type loading struct {
	mu    sync.Mutex
	names []string // whose tables are, or are about to be
	lines []string
	done  bool
}

// load builds the tables, which takes some tenths of a second each. serve does
// it in the background while it begins to listen, so that the first request
// does not have to. One that comes earlier waits for the tables it needs, and
// no longer: the same conversation must get the same plan whenever it comes, so
// it is not counted by an estimate meanwhile. Nothing waits for load to
// end. A reload may need more of them.
func (l *loading) load(names []string) {
	for _, name := range names {
		if k, err := tokenize.Named(name); err == nil && l.first(name) {
			start := time.Now()
			k.Load()
			l.mu.Lock()
			l.lines = append(l.lines, fmt.Sprintf("tokenizer %s: loaded in %d ms\n", name, time.Since(start).Milliseconds()))
			l.mu.Unlock()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
}

// first reports whether nobody loads a table yet.
func (l *loading) first(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.names, name) {
		return false
	}
	l.names = append(l.names, name)
	return true
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
	hits, misses := counting.Stats()
	return strings.Join(l.lines, "") + fmt.Sprintf("texts: %d counted before, %d new\n", hits, misses)
}
