package proxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"laconic/compact"
	"laconic/proxy/admission"
	"laconic/proxy/summarize/prompt"
	"laconic/store"
)

// job is one summary in the making. It ends by its deadline or with the proxy,
// never because a client left.
type job struct {
	s       *summaries
	gap     gapNames
	spans   [][]compact.Message
	task    string
	size    int // tokens of the slot
	label   string
	cost    func(string) int
	headers http.Header // the client's credential, where it is the one to use
	coolKey string
	seat    *admission.Reservation // memory for what it holds
	cancel  context.CancelCauseFunc
	began   time.Time

	done chan struct{} // closed at the end; then body and why are set
	body string
	why  string // why there is no summary, in a word

	awaited atomic.Bool // a request waits for it

	mu      sync.Mutex
	settled []digestKey // warm marks that need nothing more once there is a summary

	info JobInfo
}

// underWay tells whether a summary is being made, or was tried in vain a while
// ago.
func (s *summaries) underWay(key store.Key) bool {
	s.mu.Lock()
	running := s.jobs[key] != nil
	s.mu.Unlock()
	return running || s.isCooling(string(key[:]))
}

// leastSummary is the size of a slot, in tokens, below which a digest says more
// than a summary, whose frame alone takes some 40.
const leastSummary = 160

// start gives the job that makes the summary of a gap, a new one if there is
// none. wait: a request will wait for it. No job: why not, in a word.
func (s *summaries) start(t *trip, in compact.Conversation, g gapNames, slot *compact.Slot, wait bool) (*job, string) {
	key, credential := g.key(), s.o.credential(t)
	s.mu.Lock()
	again := wait && t.policy().PerRequest != nil
	j, why := s.standing(key, credential, slot.Size, wait, again)
	s.mu.Unlock()
	if j != nil || why != "" {
		return j, why
	}
	// The messages are read outside of the lock: requests wait for that.
	fresh := s.newJob(t, in, g, slot)
	if fresh == nil {
		return nil, "memory"
	}
	fresh.coolKey = credential
	fresh.awaited.Store(wait)
	s.mu.Lock()
	defer s.mu.Unlock()
	if j, why = s.standing(key, credential, slot.Size, wait, again); j != nil || why != "" {
		fresh.seat.Free() // another request was quicker
		return j, why
	}
	s.workers <- struct{}{} // there is a place: they are taken under the lock alone
	s.jobs[key] = fresh
	s.ended.Add(1)
	s.counts.running.Add(1)
	ctx, cancel := context.WithCancelCause(s.ctx)
	fresh.cancel = cancel
	if !fresh.seat.Offer(fresh) {
		fresh.Release()
	}
	go fresh.run(ctx, key)
	return fresh, ""
}

// standing is the job that makes a summary already, or why none may be begun;
// neither: one may. again: a summarizer that failed is asked again at the next
// attempt, as under policies that are known for it; but by one request at a time,
// so that those beside it are not held for nothing. The lock is held.
func (s *summaries) standing(key store.Key, credential string, size int, wait, again bool) (*job, string) {
	if j := s.jobs[key]; j != nil {
		if wait {
			j.awaited.Store(true)
		}
		return j, ""
	}
	switch {
	case s.closed:
		return nil, "shutdown"
	case size < leastSummary:
		return nil, "small"
	case again && s.isCooling(credential) && s.asking(credential):
		return nil, "cooling"
	case !again && (s.isCooling(credential) || s.isCooling(string(key[:]))):
		return nil, "cooling"
	case len(s.workers) == cap(s.workers):
		return nil, "busy"
	}
	return nil, ""
}

// asking reports whether a job with a credential is under way. The lock is held.
func (s *summaries) asking(credential string) bool {
	for _, j := range s.jobs {
		if j.coolKey == credential {
			return true
		}
	}
	return false
}

// newJob makes a job; nil where there is no memory for what it holds. The
// messages point into the request's body, which is held for as long as they
// are. Requests come first: where there is no room, no summary.
func (s *summaries) newJob(t *trip, in compact.Conversation, g gapNames, slot *compact.Slot) *job {
	j := &job{
		s: s, gap: g, spans: slot.Spans(), size: slot.Size, label: slot.Label, cost: costOf(t.counter()),
		began: time.Now(), done: make(chan struct{}),
		info: JobInfo{ID: t.info.ID, Model: s.o.Model, Messages: g.messages},
	}
	if m := taskOf(in); m != nil {
		j.task = prompt.TextOf(m)
	}
	if s.o.ClientCredential {
		j.headers = clientCredential(t.r.Header)
	}
	if j.seat = s.p.memory.Background(int64(admission.BodyCost * textBytes(j.spans))); j.seat == nil {
		return nil
	}
	return j
}

// Release ends a job for its memory, unless a request waits for it.
func (j *job) Release() bool {
	if j.awaited.Load() {
		return false
	}
	j.cancel(admission.ErrNoMemory)
	return true
}

func (j *job) run(ctx context.Context, key store.Key) {
	s := j.s
	defer s.ended.Done()
	defer j.cancel(nil)
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			s.p.fault(j.info.ID, "summary", v)
			j.body, j.why = "", "fault"
		}
		j.finish(key)
	}()
	j.body, j.why = j.make(ctx, key)
}

// finish tells everybody.
func (j *job) finish(key store.Key) {
	s := j.s
	j.spans = nil
	j.seat.Free()
	j.info.Reason, j.info.Duration = j.why, time.Since(j.began)
	// What came of it is noted before the job is gone: a request that comes
	// between the two would start another.
	switch {
	case j.why == "":
		s.warmUp(j.coolKey)
		s.warmUp(string(key[:]))
	case j.why == "elsewhere", j.why == "shutdown":
	default:
		s.coolDown(string(key[:]))
		if ofContent(j.why) {
			s.doubt(j.coolKey, key)
		} else if j.info.ofSummarizer() {
			s.coolDown(j.coolKey)
		}
	}
	<-s.workers
	s.mu.Lock()
	delete(s.jobs, key)
	s.mu.Unlock()
	s.counts.ended(&j.info)
	j.mu.Lock()
	close(j.done)
	if j.why == "" {
		for _, near := range j.settled {
			s.settled.Set(near, struct{}{})
		}
	}
	j.mu.Unlock()
	s.p.o.Listener.Summarized(j.info)
}

// settles notes that a warm mark needs nothing more once there is a summary,
// which may be so already.
func (j *job) settles(near digestKey) {
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case <-j.done:
		if j.why == "" {
			j.s.settled.Set(near, struct{}{})
		}
	default:
		j.settled = append(j.settled, near)
	}
}

// wait waits for the end of a job.
func (j *job) wait(ctx context.Context, most time.Duration) (body, why string) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-j.done:
		return j.body, j.why
	case <-timer.C:
		return "", "waited"
	case <-ctx.Done():
		return "", "left"
	}
}

// elsewherePause is how often the store is asked for what another process is
// making, while a request waits for it here.
const elsewherePause = 250 * time.Millisecond

// make makes the summary of a gap, unless it is there or being made elsewhere.
func (j *job) make(ctx context.Context, key store.Key) (body, why string) {
	vault := j.s.o.Store
	for {
		if body, ok := vault.Get(ctx, key); ok {
			return body, ""
		}
		release, ok := vault.Lock(ctx, key, j.s.o.Timeout+time.Second)
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
	if body, ok := vault.Get(ctx, key); ok {
		return body, "" // it was made between the two questions
	}
	body, err := j.write(ctx)
	if err != nil {
		switch {
		case j.s.ctx.Err() != nil:
			return "", "shutdown"
		case errors.Is(context.Cause(ctx), admission.ErrNoMemory):
			return "", "memory"
		}
		return "", failureOf(ctx, err)
	}
	j.info.Made = true
	// That others cannot have it is no reason not to use it.
	if err := vault.Put(ctx, key, body); err != nil {
		j.info.Unstored = true
	}
	return body, ""
}
