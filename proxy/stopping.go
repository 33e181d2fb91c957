package proxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// StopStep is a step of the end of Serve, in a word.
type StopStep string

// The steps of the end, in their order.
const (
	StopBegun  StopStep = "told"   // Serve goes on taking requests for Limits.Drain
	StopClosed StopStep = "closed" // its listener is closed; open answers have Limits.Shutdown
	StopEnded  StopStep = "ended"  // no request is left, and no work in the background
)

// StopInfo is a step of the end of Serve.
type StopInfo struct {
	Step StopStep
	// Why is the cause of the context that told Serve to stop; "" where it has none.
	Why string
	// Within is the time that the next step is to come in: Limits.Drain, then
	// Limits.Shutdown.
	Within time.Duration
	// Requests are those that are not over, Streams those of them whose answer is a
	// stream of events that has begun.
	Requests, Streams int
	// Cut is how many requests were cut at the end of Limits.Shutdown.
	Cut int
	// Duration is the time since Serve was told to stop.
	Duration time.Duration
}

// stop ends srv, which runs until failed says why it did not: after Limits.Drain, and
// within Limits.Shutdown. It calls cut to end the requests that are left. i says why.
func (p *Proxy) stop(srv *http.Server, failed <-chan error, cut context.CancelCauseFunc, i StopInfo) error {
	began := time.Now()
	tell := func(step StopStep, within time.Duration) {
		i.Step, i.Within, i.Requests, i.Streams, i.Duration = step, within, p.Serving(), int(p.streaming.Load()), time.Since(began)
		p.listener.Stopping(i)
	}
	defer func() {
		p.Close()
		tell(StopEnded, 0)
	}()
	drain := p.settings.Load().Limits.Drain
	tell(StopBegun, drain)
	select {
	case err := <-failed:
		return err
	case <-time.After(drain):
	}
	most := p.settings.Load().Limits.Shutdown                                 // it may be another one by now
	tellClosed := sync.OnceFunc(func() { p.close(); tell(StopClosed, most) }) // there may be a second Shutdown
	srv.RegisterOnShutdown(tellClosed)
	grace, stop := context.WithTimeout(context.Background(), most-min(afterCut, most/4))
	defer stop()
	late := srv.Shutdown(grace) != nil
	tellClosed() // at the latest; it waits for one that is being told
	if late {
		i.Cut = p.Serving()
		cut(errShutdown)
		last, stop := context.WithTimeout(context.Background(), min(afterCut, most/4))
		defer stop()
		_ = srv.Shutdown(last)
	}
	_ = srv.Close()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
