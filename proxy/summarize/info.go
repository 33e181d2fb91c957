package summarize

import (
	"maps"
	"sync"
	"time"
)

// The outcomes of a slot.
const (
	Hit    = "hit"    // all its spans that are large enough have a summary
	Made   = "made"   // the same, and the request waited for one
	Digest = "digest" // a program wrote the text of one of these, or all
	None   = "none"   // it has no text
)

// Info says what became of the slot of one request.
type Info struct {
	Outcome string
	// Spans is the number of its spans, Digests how many of them have no summary.
	Spans, Digests int
	// Reason says in a word why the newest of these that is large enough has none:
	// preparing, waited, cooling, busy, or what was wrong with the model or its
	// answer.
	Reason string
	Model  string
	// Duration is how long the request waited.
	Duration time.Duration
}

// JobInfo says how one attempt at a summary ended.
type JobInfo struct {
	ID    string // of the request that began it
	Model string
	// Reason says in a word why there is no summary, "" if there is one;
	// elsewhere: another process makes it.
	Reason string
	// Made: the model was asked, or else the summary was stored already.
	// Updated: it was asked for what came since an earlier summary. Unstored:
	// the store did not take the summary.
	Made, Updated, Unstored bool
	Messages                int // that it stands for
	SourceTokens            int // that were sent, about
	Pieces, Tries           int
	Duration                time.Duration
}

// ErasedInfo says what was erased because another process that shares the store was
// asked to erase an owner's.
type ErasedInfo struct {
	// Remembered is how many texts this process remembered, Stored how many summaries
	// the store had that came to it since the other process looked.
	Remembered, Stored int
	// Failed: the store failed, and some may be left.
	Failed bool
}

// ModelFailed reports whether the model is why there is no summary, and not what
// it was asked, nor what happened here.
func (i *JobInfo) ModelFailed() bool {
	switch i.Reason {
	case "", "memory", "elsewhere", "shutdown", erased:
		return false
	}
	return i.Tries > 0 && !fromContent(i.Reason)
}

// Counts are totals since the start.
type Counts struct {
	Hit, Made uint64            // slots, by outcome
	Digest    map[string]uint64 // slots, by reason
	Jobs      uint64            // summaries that the model wrote
	Failed    map[string]uint64 // attempts without one, by reason
	Tries     uint64            // requests to the model
	Running   int64             // attempts under way
}

// Counts returns the totals of a service.
func (s *Service) Counts() Counts { return s.counts.now() }

type counts struct {
	mu    sync.Mutex
	total Counts
}

func newCounts() *counts {
	return &counts{total: Counts{Digest: map[string]uint64{}, Failed: map[string]uint64{}}}
}

func (c *counts) filled(i *Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch i.Outcome {
	case Hit:
		c.total.Hit++
	case Made:
		c.total.Made++
	default:
		c.total.Digest[i.Reason]++
	}
}

// running adds n to the attempts under way.
func (c *counts) running(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Running += n
}

func (c *counts) ended(i *JobInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Running--
	c.total.Tries += uint64(i.Tries)
	switch {
	case i.Reason != "":
		c.total.Failed[i.Reason]++
	case i.Made:
		c.total.Jobs++
	}
}

func (c *counts) now() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.total
	t.Digest, t.Failed = maps.Clone(t.Digest), maps.Clone(t.Failed)
	return t
}
