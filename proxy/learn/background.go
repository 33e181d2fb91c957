package learn

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// background runs work that no request waits for. Little runs at a time, each
// piece has an end, and none outlives the Memory.
type background struct {
	failed func(v any)
	ctx    context.Context
	stop   context.CancelFunc

	mu    sync.Mutex // start and close
	group errgroup.Group
}

const (
	mostBackground = 8
	backgroundTime = 15 * time.Second
)

func newBackground(failed func(v any)) *background {
	b := &background{failed: failed}
	b.ctx, b.stop = context.WithCancel(context.Background())
	b.group.SetLimit(mostBackground)
	return b
}

// start runs f in the background, and reports whether it does: not when much
// runs already, nor after close. A panic of f costs f alone.
func (b *background) start(f func(ctx context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ctx.Err() == nil && b.group.TryGo(func() error {
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				b.failed(v)
			}
		}()
		ctx, stop := context.WithTimeout(b.ctx, backgroundTime)
		defer stop()
		f(ctx)
		return nil
	})
}

// close ends what runs and waits for it.
func (b *background) close() {
	b.mu.Lock()
	b.stop()
	b.mu.Unlock()
	_ = b.group.Wait()
}
