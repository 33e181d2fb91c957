package learn

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// background is work that no request waits for. There is little of it at a
// time, each piece has an end, and none outlives the Memory.
type background struct {
	failed func(v any)
	ctx    context.Context
	stop   context.CancelFunc

	mu     sync.Mutex
	closed bool
	slots  chan struct{}
	wg     sync.WaitGroup
}

const (
	mostBackground = 8
	backgroundTime = 15 * time.Second
)

func newBackground(failed func(v any)) *background {
	b := &background{failed: failed, slots: make(chan struct{}, mostBackground)}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// start runs f, and reports whether it does: not when there is much to do
// already, nor after close. A panic of f costs f alone.
func (b *background) start(f func(ctx context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	select {
	case b.slots <- struct{}{}:
	default:
		return false
	}
	b.wg.Go(func() {
		defer func() {
			<-b.slots
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				b.failed(v)
			}
		}()
		ctx, stop := context.WithTimeout(b.ctx, backgroundTime)
		defer stop()
		f(ctx)
	})
	return true
}

// close ends what runs and waits for it.
func (b *background) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.wg.Wait()
}
