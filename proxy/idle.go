package proxy

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Why we ended a request. They are causes of its context.
var (
	errNoHeaders   = errors.New("the upstream sent no headers in time")
	errStreamIdle  = errors.New("the upstream was silent inside its answer")
	errShutdown    = errors.New("the proxy is shutting down")
	errRequestDone = errors.New("the request is over")
)

// watch ends a request whose upstream is silent for too long: first until its
// headers, then between two reads of its answer. HTTP/1.1 has no ping, so a
// half-open connection is not noticed in any other way.
type watch struct {
	timer   *time.Timer
	cancel  context.CancelCauseFunc
	limits  *Limits
	reading atomic.Bool // the headers are there
}

func newWatch(l *Limits, cancel context.CancelCauseFunc) *watch {
	w := &watch{cancel: cancel, limits: l}
	w.timer = time.AfterFunc(l.ResponseHeader, w.fire)
	return w
}

func (w *watch) fire() {
	if w.reading.Load() {
		w.cancel(errStreamIdle)
		return
	}
	w.cancel(errNoHeaders)
}

// touch starts the wait for headers again: the upstream takes our body.
func (w *watch) touch() {
	if !w.reading.Load() {
		w.timer.Reset(w.limits.ResponseHeader)
	}
}

// answered ends the wait for headers; from now on only reads are timed.
func (w *watch) answered() {
	w.reading.Store(true)
	w.timer.Stop()
}

// again starts the wait for headers once more, for a second send.
func (w *watch) again() {
	w.reading.Store(false)
	w.timer.Reset(w.limits.ResponseHeader)
}

// Start begins the time for one read of the answer, and Stop ends it.
func (w *watch) Start() { w.timer.Reset(w.limits.StreamIdle) }

// Stop ends the time for a read, or for headers.
func (w *watch) Stop() { w.timer.Stop() }
