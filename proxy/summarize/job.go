package summarize

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"laconic/compact"
	"laconic/proxy/admission"
	"laconic/proxy/summarize/prompt"
	"laconic/store"
)

// job makes one summary.
type job struct {
	s          *Service
	gap        gap
	runs       [][]compact.Message // see compact.Slot.Runs
	task       string
	size       int // tokens of the span
	label      string
	cost       func(string) int
	credential string      // whose failures count together
	headers    http.Header // the client's credential, if the model gets that
	memory     *admission.Reservation
	cancel     context.CancelCauseFunc
	began      time.Time

	awaited atomic.Bool // a request waits for it

	erased bool // nothing is kept any more; guarded by Service.erasing

	done chan struct{} // closed at the end; body and reason are set then
	body string
	// reason says in a word why there is no summary.
	reason string

	info JobInfo
}

// leastSize is the size of a span, in tokens, below which a digest says more
// than a summary, whose frame alone takes some 40.
const leastSize = 160

// start returns the job that makes the summary of a gap, which is that of a span, a
// new one if no job makes it yet; or, in a word, why no job may. wait: the request
// will wait for it.
func (s *Service) start(r *Request, in compact.Conversation, g gap, slot *compact.Slot, span int, wait bool) (*job, string) {
	key, credential := g.key, s.credential(r.Header)
	if !s.erasing.TryRLock() {
		return nil, erased // or it would begin with what is about to go
	}
	defer s.erasing.RUnlock()
	s.mu.Lock()
	j := s.jobs[key]
	if j != nil {
		if wait {
			j.awaited.Store(true)
		}
		s.mu.Unlock()
		return j, ""
	}
	if why := s.refuses(key, credential); why != "" {
		s.mu.Unlock()
		return nil, why
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	j = &job{
		s: s, cancel: cancel, gap: g, size: slot.Spans[span].Size, label: slot.Label, cost: costOf(r.Counter), credential: credential,
		began: time.Now(), done: make(chan struct{}), reason: "memory", // until it has some
		info: JobInfo{ID: r.ID, Model: s.o.Model, Messages: g.messages},
	}
	j.awaited.Store(wait)
	s.jobs[key] = j
	s.ended.Add(1)
	s.mu.Unlock()

	// The messages are read outside of the lock: all requests need that. They point into
	// the request's body, which is held for as long as they are.
	running := false
	defer func() {
		if !running {
			cancel(nil)
			s.remove(key)
			close(j.done)
			s.ended.Done()
		}
	}()
	j.runs, j.task = slot.Runs(span), prompt.TextOf(task(in)...)
	if s.o.ClientCredential {
		j.headers = clientCredential(r.Header)
	}
	if j.memory = s.env.Memory.Background(admission.BodyCost*bytesOf(j.runs), j.Release); j.memory == nil {
		return nil, j.reason
	}
	running = true
	go j.run(ctx, key)
	return j, ""
}

// refuses returns why no job may be started; "": one may. The lock is held.
func (s *Service) refuses(key store.Key, credential string) string {
	switch {
	case s.ctx.Err() != nil:
		return "shutdown"
	case s.isCooling(credential), s.isCooling(string(key[:])):
		return "cooling"
	case len(s.jobs) >= mostJobs:
		return "busy"
	}
	return ""
}

// remove forgets a job.
func (s *Service) remove(key store.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, key)
}

// Release ends a job because requests need its memory, unless one waits for it.
func (j *job) Release() bool {
	if j.awaited.Load() {
		return false
	}
	j.cancel(admission.ErrNoMemory)
	return true
}

// run makes the summary and tells everybody who waits.
func (j *job) run(ctx context.Context, key store.Key) {
	s := j.s
	defer s.ended.Done()
	defer j.cancel(nil)
	ctx, stop := context.WithTimeout(ctx, s.o.Timeout)
	defer stop()
	defer j.finish(key)
	defer func() {
		if v := recover(); v != nil {
			s.env.Failed(j.info.ID, v)
			j.body, j.reason = "", "fault"
		}
	}()
	j.body, j.reason = j.make(ctx, key)
}

func (j *job) finish(key store.Key) {
	s := j.s
	j.runs = nil
	j.memory.Free()
	j.info.Duration = time.Since(j.began)
	// The outcome is noted before the job is gone: a request that comes between
	// the two would start another.
	s.erasing.RLock()
	if j.erased {
		j.body, j.reason = "", erased
	}
	j.info.Reason = j.reason
	switch j.reason {
	case "":
		s.attempts.Invalidate(j.credential)
		s.attempts.Invalidate(string(key[:]))
	case "elsewhere", "shutdown", erased:
	default:
		s.failed(string(key[:]))
		if j.info.ModelFailed() {
			s.failed(j.credential)
		}
	}
	s.erasing.RUnlock()
	s.remove(key)
	close(j.done)
	s.env.Ended(j.info)
}

// wait waits for the end of a job. It returns the summary, or why it was not made.
func (j *job) wait(ctx context.Context, most time.Duration) (body, why string) {
	select {
	case <-j.done:
		return j.body, j.reason
	default:
	}
	select {
	case <-j.done:
		return j.body, j.reason
	case <-time.After(most):
		return "", "waited"
	case <-ctx.Done():
		return "", "left"
	}
}

// elsewherePause is how often the store is asked for what another process is
// making, while a request waits for it here.
const elsewherePause = 250 * time.Millisecond

// make makes the summary of a gap, unless it is stored or being made elsewhere.
func (j *job) make(ctx context.Context, key store.Key) (body, why string) {
	vault := j.s.store
	for {
		release, ok := vault.Lock(ctx, key, j.s.o.Timeout+time.Second)
		if body, stored := vault.Get(ctx, key); stored {
			release()
			return body, ""
		}
		if ok {
			defer release()
			break
		}
		if !j.awaited.Load() {
			return "", "elsewhere"
		}
		select {
		case <-ctx.Done():
			return "", "elsewhere"
		case <-time.After(elsewherePause):
		}
	}
	body, err := j.write(ctx)
	switch {
	case err == nil:
	case j.s.ctx.Err() != nil:
		return "", "shutdown"
	case errors.Is(context.Cause(ctx), admission.ErrNoMemory):
		return "", "memory"
	default:
		return "", failureOf(ctx, err)
	}
	j.info.Made = true
	j.store(ctx, key, body)
	return body, ""
}

// store stores the summary, unless its owner's were erased meanwhile. One that could
// not be stored is used all the same.
func (j *job) store(ctx context.Context, key store.Key, body string) {
	j.s.erasing.RLock()
	defer j.s.erasing.RUnlock()
	j.info.Unstored = j.erased || j.s.store.Put(ctx, key, body) != nil
}
