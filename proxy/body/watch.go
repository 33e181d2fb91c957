package body

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Why a Watch ended a request: causes of its context.
var (
	ErrNoHeaders = errors.New("the upstream sent no headers in time")
	ErrSilent    = errors.New("the upstream was silent inside its answer")
)

// Watch ends a request whose upstream is silent for too long: first until its
// headers, then between two reads of its answer. HTTP/1.1 has no ping, so nothing
// else notices a half-open connection.
type Watch struct {
	timer            *time.Timer
	headers, silence time.Duration
	reading          atomic.Bool // the headers are there
}

// NewWatch starts the wait for headers. It cancels when the upstream takes longer
// than headers until them, or is silent for longer than silence after them.
func NewWatch(headers, silence time.Duration, cancel context.CancelCauseFunc) *Watch {
	w := &Watch{headers: headers, silence: silence}
	w.timer = time.AfterFunc(headers, func() {
		if w.reading.Load() {
			cancel(ErrSilent)
		} else {
			cancel(ErrNoHeaders)
		}
	})
	return w
}

// touch starts the wait for headers again: the upstream takes the body.
func (w *Watch) touch() {
	if !w.reading.Load() {
		w.timer.Reset(w.headers)
	}
}

// Answered ends the wait for headers; from now on only reads are timed.
func (w *Watch) Answered() {
	w.reading.Store(true)
	w.timer.Stop()
}

// Restart starts the wait for headers once more, for a second send.
func (w *Watch) Restart() {
	w.reading.Store(false)
	w.timer.Reset(w.headers)
}

// Start begins the time for one read of the answer, and Stop ends it: while the
// client is slow to take what was read, the upstream is not at fault.
func (w *Watch) Start() { w.timer.Reset(w.silence) }

// Stop ends the time for a read, or for headers.
func (w *Watch) Stop() { w.timer.Stop() }
