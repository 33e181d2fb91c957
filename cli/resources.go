package cli

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"laconic/proxy"
)

const (
	// otherBytes is what everything takes but bodies and open requests: the tables of
	// the tokenizers 22 MB, what is remembered of counts up to 15, of digests 16.
	otherBytes = 128 << 20
	// requestBytes is what an open request takes beside its body: its connections,
	// buffers and goroutines. 55 to 71 KB were measured for a stream.
	requestBytes = 80 << 10
	// memorySteps are the requests after which the limit is set anew, and memoryPause
	// how often they are counted. Setting it stops the process for a moment.
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
	for last := -1; ; {
		if n := open() / memorySteps * memorySteps; n != last {
			debug.SetMemoryLimit(l.Memory + otherBytes + int64(n)*requestBytes)
			last = n
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(memoryPause):
		}
	}
}
