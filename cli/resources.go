package cli

import (
	"context"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"laconic/config"
	"laconic/proxy"
	"laconic/tokenize"
)

const (
	// otherBytes is what everything takes but bodies and open requests: the tables of
	// the tokenizers 22 MB, what is remembered of counts up to 15, of digests 16.
	otherBytes = 128 << 20
	// requestBytes is what an open request takes beside its body: its connections,
	// buffers and goroutines. 55 to 71 KB were measured for a stream.
	requestBytes = 80 << 10
	// memorySteps are the requests after which the limit is set anew, and memoryPause
	// how often they are counted. To set it stops the process for a moment.
	memorySteps = 500
	memoryPause = 2 * time.Second
)

// limitMemory has the collector respect the limit on bodies, too, with room for
// everything else, until ctx is done. Near a limit that has no room for the requests
// that are open, the collector runs all the time. A GOMEMLIMIT in the environment stands.
func limitMemory(ctx context.Context, l proxy.Limits, open func() int) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	set := func(n int) { debug.SetMemoryLimit(l.Process(otherBytes + int64(n)*requestBytes)) }
	set(0)
	t := time.NewTicker(memoryPause)
	defer t.Stop()
	for last := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if n := open() / memorySteps * memorySteps; n != last {
			set(n)
			last = n
		}
	}
}

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
