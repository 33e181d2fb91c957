package summarize

import (
	"cmp"
	"context"
	"crypto/rand"
	"hash/maphash"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/semaphore"

	"laconic/compact"
	"laconic/proxy/admission"
	"laconic/store"
)

// Header marks a request that asks for a summary. A Laconic that receives one
// begins no summary for it: a summarizer that points back here, or two that
// point at each other, stop after one level.
const Header = "X-Laconic-Summary"

// Request is what the service knows of the request whose slot it fills, for one
// plan. It is used by one goroutine.
type Request struct {
	ID     string
	Header http.Header // of the client: its credentials keep clients apart
	// Owner is what the client is known by, as access.Owner says: Erase takes away
	// all that is kept of one owner.
	Owner    string
	Query    string // of its URL, where some clients bring their key
	Upstream *url.URL
	Policy   string
	Version  string // of the policy
	// Counting names the Counter.
	Counting string
	Counter  compact.Counter
	// Unwanted is in a word why no summary may be begun for it; "": one may.
	Unwanted string
	// Bound: thinking in the conversation is bound to the text of the slot.
	Bound bool
	// Wait is how long the request may wait for its summaries.
	Wait time.Duration
}

// Service fills the slots of plans. It is safe for concurrent use.
type Service struct {
	o         Options // without a model: zero
	store     *store.Vault
	format    format
	env       Environment
	texts     *otter.Cache[memo, keptText]   // what records said
	shown     *otter.Cache[memo, []bool]     // of a slot: the spans that show their digest
	attempts  *otter.Cache[string, attempts] // see cooldown.go
	seeds     seeds
	rendering *semaphore.Weighted // one transcript is rendered at a time
	bare      atomic.Bool         // the model refuses a limit or a temperature

	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	jobs   map[store.Key]*job
	ended  sync.WaitGroup

	erasing  sync.RWMutex  // read-locked while something is kept
	erasures atomic.Uint64 // so far; see recorder.add
	mark     string        // of this process, among those that share the store
}

// keptText is a text that is remembered, and whose it is.
type keptText struct {
	who  memo
	text string
}

// Store is what processes share.
type Store = store.Vault

// Environment is what a service is given by the program around it.
type Environment struct {
	// Memory is where the memory of jobs comes from. Requests come first.
	Memory *admission.Gate
	// Store is where summaries are stored. Whoever shares it hears what others erase, and
	// tells what it erases. The service does not close it. nil: one in memory.
	Store *Store
	// Transport carries the requests to the model.
	Transport http.RoundTripper
	// Ended is called at the end of each job, Erased when another process has had
	// summaries erased here, Failed after a panic.
	Ended  func(JobInfo)
	Erased func(ErasedInfo)
	Failed func(id string, v any)
}

const (
	// rememberedBytes bounds the remembered texts, rememberedGaps the number of
	// remembered failures and slots.
	rememberedBytes = 32 << 20
	rememberedGaps  = 10_000
)

// New returns a service that asks the model of o; nil: it writes digests only.
func New(o *Options, env Environment) *Service {
	s := &Service{
		env: env, store: env.Store, format: written, seeds: seeds{maphash.MakeSeed(), maphash.MakeSeed()}, mark: rand.Text(),
		rendering: semaphore.NewWeighted(1), jobs: map[store.Key]*job{},
	}
	s.texts = otter.Must(&otter.Options[memo, keptText]{
		MaximumWeight: rememberedBytes,
		Weigher:       func(_ memo, t keptText) uint32 { return uint32(len(t.text)) + 80 },
	})
	s.attempts = otter.Must(&otter.Options[string, attempts]{MaximumSize: rememberedGaps})
	s.shown = otter.Must(&otter.Options[memo, []bool]{MaximumSize: rememberedGaps})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if o != nil {
		s.o = *o
		s.o.Timeout, s.o.Window = cmp.Or(o.Timeout, time.Minute), cmp.Or(o.Window, compact.DefaultWindow)
	}
	if s.store == nil {
		s.store, _ = store.Open(store.Options{}) // no option is wrong
		context.AfterFunc(s.ctx, s.store.Close)
	}
	from := s.store
	s.ended.Go(func() { s.hear(from) })
	return s
}

// Running returns how many summaries are being made.
func (s *Service) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

// Asks reports whether the service has a model: only then there are summaries.
func (s *Service) Asks() bool { return s.o.Model != "" }

// closeWait is how long Close waits. Jobs end at once, but a text that is being
// counted is counted to its end.
const closeWait = 5 * time.Second

// Close ends all jobs and waits for them.
func (s *Service) Close() {
	s.mu.Lock() // no job begins any more
	s.cancel()
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.ended.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closeWait):
	}
}

// costOf returns what a text costs, in tokens.
func costOf(c compact.Counter) func(string) int {
	return func(s string) int { return compact.CostText(c, s) }
}
