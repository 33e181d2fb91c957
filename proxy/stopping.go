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
	StopTold   StopStep = "told"   // Serve goes on taking requests for Limits.Drain
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

// stopping is a Serve that was told to stop.
type stopping struct {
	p     *Proxy
	why   string
	began time.Time
	cut   int
}

// tell tells the listener of a step.
func (s *stopping) tell(step StopStep, within time.Duration) {
	s.p.listener.Stopping(StopInfo{
		Step: step, Why: s.why, Within: within, Requests: s.p.Serving(), Streams: int(s.p.streaming.Load()), Cut: s.cut, Duration: time.Since(s.began),
	})
}

// end ends srv, which runs until failed says why it did not: after Limits.Drain, and
// within Limits.Shutdown. It calls cut to end the requests that are left.
func (s *stopping) end(srv *http.Server, failed <-chan error, cut context.CancelCauseFunc) error {
	drain := s.p.settings.Load().Limits.Drain
	s.tell(StopTold, drain)
	select {
	case err := <-failed:
		return err
	case <-time.After(drain):
	}
	most := s.p.settings.Load().Limits.Shutdown                                   // it may be another one by now
	tellClosed := sync.OnceFunc(func() { s.p.close(); s.tell(StopClosed, most) }) // there may be a second Shutdown
	srv.RegisterOnShutdown(tellClosed)
	grace, stop := context.WithTimeout(context.Background(), most-min(afterCut, most/4))
	defer stop()
	late := srv.Shutdown(grace) != nil
	tellClosed() // at the latest; it waits for one that is being told
	if late {
		s.cut = s.p.Serving()
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
