package cli

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"laconic/proxy"
)

// TestTheMemoryLimitHasRoomForOpenRequests: it follows them, in steps.
func TestTheMemoryLimitHasRoomForOpenRequests(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var open atomic.Int64
		l := proxy.Limits{Memory: 100 << 20}
		go limitMemory(ctx, l, func() int { return int(open.Load()) })
		for _, f := range []struct{ open, room int64 }{{0, 0}, {499, 0}, {10_250, 10_000}, {10_499, 10_000}, {3, 0}} {
			open.Store(f.open)
			time.Sleep(memoryPause + time.Second)
			if got, want := debug.SetMemoryLimit(-1), l.Memory+otherBytes+f.room*requestBytes; got != want {
				t.Errorf("%d requests are open: %d, want %d", f.open, got, want)
			}
		}
		t.Setenv("GOMEMLIMIT", "1GiB")
		debug.SetMemoryLimit(1 << 30)
		limitMemory(ctx, l, func() int { return 10_000 })
		if got := debug.SetMemoryLimit(-1); got != 1<<30 {
			t.Errorf("with GOMEMLIMIT: %d", got)
		}
	})
}
