package summarize

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/semaphore"

	"laconic/compact"
	"laconic/proxy/admission"
	"laconic/proxy/summarize/prompt"
	"laconic/store"
)

// Header marks a request that asks for a summary. A Laconic that receives one
// begins no summary for it: a summarizer that points back here, or two that
// point at each other, stop after one level.
const Header = "X-Laconic-Summary"

// Request is what the service knows of the request whose slot it fills.
type Request struct {
	ID       string
	Header   http.Header // of the client: its credentials keep clients apart
	Query    string      // of its URL, where some clients bring their key
	Upstream *url.URL
	Policy   string
	// Counting names how tokens are counted, if not by Counter alone.
	Counting string
	Counter  compact.Counter
	Budget   compact.Budget
	Pins     []int
	// Unfolded: the policy makes another gap at every request.
	Unfolded bool
	// Overridden: headers of the request chose its policy or its budget.
	Overridden bool
	// Unedited: the request is sent as it came.
	Unedited bool
	// Bound: thinking in the conversation is bound to the text of the slot.
	Bound bool
	// Keep is called where something outlives the request that points into its
	// conversation; nil: whatever it points into stays as it is.
	Keep func()
	// Waited is how long the request has waited for summaries.
	Waited time.Duration
}

// Service fills the slots of plans. It is safe for concurrent use.
type Service struct {
	o         Options // without a model: zero
	format    format
	env       Environment
	digests   *otter.Cache[memo, string]
	summaries *otter.Cache[memo, string]      // in their frames
	gaps      *otter.Cache[memo, gap]         // empty: the coming epoch needs no slot
	made      *otter.Cache[store.Key, bool]   // the gaps that have a summary
	failures  *otter.Cache[string, *failures] // see cooldown.go
	seeds     seeds
	rendering *semaphore.Weighted // one transcript is rendered at a time
	workers   *semaphore.Weighted
	counts    *counts
	bare      atomic.Bool // the model refuses a limit or a temperature

	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	jobs   map[store.Key]*job
	closed bool
	ended  sync.WaitGroup
}

// Environment is what a service is given by the program around it.
type Environment struct {
	// Memory is where the memory of jobs comes from. Requests come first.
	Memory *admission.Gate
	// Ended is called at the end of each job, Failed after a panic.
	Ended  func(JobInfo)
	Failed func(id string, v any)
}

const (
	// rememberedBytes bounds the remembered texts of each kind, rememberedGaps
	// the number of remembered gaps.
	rememberedBytes = 16 << 20
	rememberedGaps  = 10_000
)

// New returns a service that asks the model of o; nil: it writes digests only.
func New(o *Options, env Environment) *Service {
	texts := func() *otter.Cache[memo, string] {
		return otter.Must(&otter.Options[memo, string]{
			MaximumWeight: rememberedBytes,
			Weigher:       func(_ memo, text string) uint32 { return uint32(len(text)) + 64 },
		})
	}
	s := &Service{env: env, format: written, seeds: newSeeds(), digests: texts(), counts: newCounts()}
	if o == nil {
		return s
	}
	s.o = o.withDefaults()
	s.summaries = texts()
	s.gaps = otter.Must(&otter.Options[memo, gap]{MaximumSize: rememberedGaps})
	s.made = otter.Must(&otter.Options[store.Key, bool]{MaximumSize: rememberedGaps})
	s.failures = otter.Must(&otter.Options[string, *failures]{MaximumSize: rememberedGaps})
	s.rendering = semaphore.NewWeighted(1)
	s.workers = semaphore.NewWeighted(int64(s.o.Workers))
	s.jobs = map[store.Key]*job{}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// asks reports whether the service has a model.
func (s *Service) asks() bool { return s.jobs != nil }

// closeWait is how long Close waits. Jobs end at once, but a text that is being
// counted is counted to its end.
const closeWait = 5 * time.Second

// Close ends all jobs and waits for them.
func (s *Service) Close() {
	if !s.asks() {
		return
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	ended := make(chan struct{})
	go func() {
		s.ended.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closeWait):
	}
	if t, ok := s.o.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Text returns the text for the slot of a plan: its summary if there is one,
// else its digest. It returns "" for a plan without a slot. The account is nil
// without a slot or a model.
func (s *Service) Text(ctx context.Context, r *Request, in compact.Conversation, plan *compact.Plan) (string, *Info) {
	if plan.Slot == nil {
		return "", nil
	}
	key := s.memo(r, in, placeOf(plan.Slot), plan.Edits)
	if !s.asks() {
		return s.digest(key, plan.Slot), nil
	}
	text, info := s.summary(ctx, r, in, plan.Slot, key)
	info.Model = s.o.Model
	if text == "" {
		if text = s.digest(key, plan.Slot); text == "" {
			info.Outcome = None
		}
	}
	s.counts.filled(info)
	return text, info
}

// digest returns the digest of a slot. Every turn of an epoch needs the same
// one, and making it reads all messages before it.
func (s *Service) digest(key memo, slot *compact.Slot) string {
	text, ok := s.digests.GetIfPresent(key)
	if !ok {
		text = slot.Digest()
		s.digests.Set(key, text)
	}
	return text
}

// Prepare begins the summary of the coming epoch, once a conversation has
// passed the warm mark.
func (s *Service) Prepare(r *Request, in compact.Conversation, plan *compact.Plan) {
	if !s.asks() || s.unwanted(r) != "" || s.isCooling(s.credential(r.Header)) {
		return
	}
	forecast := plan.Forecast()
	if forecast == nil {
		return
	}
	key := s.memo(r, in, place{from: -1, to: forecast.Mark, sources: forecast.Sources}, nil)
	if g, ok := s.gaps.GetIfPresent(key); ok && (g.messages == 0 || s.needsNothing(g.key())) {
		return
	}
	slot := forecast.Slot()
	if slot == nil {
		s.gaps.Set(key, gap{})
		return
	}
	s.start(r, in, s.gap(r, in, slot, key), slot, false)
}

// needsNothing reports whether the summary of a gap was made, is being made, or
// failed a while ago.
func (s *Service) needsNothing(key store.Key) bool {
	if made, _ := s.made.GetIfPresent(key); made || s.isCooling(string(key[:])) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[key] != nil
}

// summary returns the summary for a slot, or "", and how it came
// about. A panic costs the summary, not the request.
func (s *Service) summary(ctx context.Context, r *Request, in compact.Conversation, slot *compact.Slot, key memo) (text string, info *Info) {
	defer func() {
		if v := recover(); v != nil {
			s.env.Failed(r.ID, v)
			text, info = "", &Info{Outcome: Digest, Reason: "fault"}
		}
	}()
	if text, ok := s.summaries.GetIfPresent(key); ok {
		return text, &Info{Outcome: Hit}
	}
	if _, ok := s.digests.GetIfPresent(key); ok && r.Bound {
		return "", &Info{Outcome: Digest, Reason: "bound"} // later thinking is bound to the digest
	}
	g := s.gap(r, in, slot, key)
	body, info := s.body(ctx, r, in, g, slot)
	if info.Reason != "" {
		return "", info
	}
	text = prompt.Text(slot.Label, body, g.messages, slot.Size, costOf(r.Counter))
	if text == "" {
		info.Outcome, info.Reason = Digest, string(prompt.TooLarge)
		return "", info
	}
	s.summaries.Set(key, text)
	return text, info
}

// body returns the summary of a gap without its frame: from the store, or from a
// job that the request waits for.
func (s *Service) body(ctx context.Context, r *Request, in compact.Conversation, g gap, slot *compact.Slot) (string, *Info) {
	if body, ok := s.o.Store.Get(ctx, g.key()); ok {
		return body, &Info{Outcome: Hit}
	}
	info := &Info{Outcome: Digest, Reason: s.unwanted(r)}
	wait := s.o.Wait
	if r.Unfolded {
		wait = s.o.WaitUnfolded
		if wait == 0 && info.Reason == "" {
			info.Reason = "not_folded" // a summary of this gap would never be used
		}
	}
	if info.Reason != "" {
		return "", info
	}
	wait -= r.Waited
	j, why := s.start(r, in, g, slot, wait > 0)
	switch {
	case j == nil:
		info.Reason = why
		return "", info
	case wait <= 0:
		info.Reason = "preparing"
		return "", info
	}
	began := time.Now()
	body, why := j.wait(ctx, wait)
	info.Duration = time.Since(began)
	if info.Reason = why; why == "" {
		info.Outcome = Made
	}
	return body, info
}

// unwanted returns why no summary may be begun for a request; "" if one may.
func (s *Service) unwanted(r *Request) string {
	switch {
	case r.Header.Get(Header) != "":
		return "looped"
	case r.Overridden && !s.o.ClientCredential:
		// Whoever may send headers could make the operator pay for any number.
		return "override"
	case r.Unedited:
		return "mode"
	}
	return ""
}

// costOf returns what a text costs, in tokens.
func costOf(c compact.Counter) func(string) int {
	return func(s string) int { return compact.CostText(c, s) }
}
