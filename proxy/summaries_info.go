package proxy

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// The outcomes of a slot, as SummaryInfo.Outcome gives them.
const (
	SummaryHit    = "hit"    // its summary was there
	SummaryMade   = "made"   // the request waited until it was
	SummaryDigest = "digest" // a program wrote its text
	SummaryNone   = "none"   // nobody did
)

// SummaryInfo is what became of the slot of one request.
type SummaryInfo struct {
	Outcome string
	// Reason says in a word why it is no summary: preparing, waited, cooling,
	// busy, or what was wrong with the summarizer or its answer.
	Reason string
	Model  string // of the summarizer
	// Duration is how long the request was held for it.
	Duration time.Duration
}

// JobInfo is one attempt at a summary, in the background.
type JobInfo struct {
	ID    string // of the request that began it
	Model string
	// Reason says in a word why there is no summary; "" where there is one.
	// elsewhere: another process makes it.
	Reason string
	// Made: the model was asked; else the summary was there already. Updated:
	// it was asked for what came since an earlier summary. Unstored: the store
	// did not take it.
	Made, Updated, Unstored bool
	Messages                int // that it stands for
	SourceTokens            int // that were sent, about
	Pieces, Tries           int
	Duration                time.Duration
}

// SummaryCounts are totals since the start.
type SummaryCounts struct {
	Hit, Made uint64            // slots, by outcome
	Digest    map[string]uint64 // slots, by reason
	Jobs      uint64            // summaries that the model wrote
	Failed    map[string]uint64 // attempts without one, by reason
	Tries     uint64            // requests to the model
	Running   int64             // attempts under way
}

// SummaryCounts gives the totals of this proxy; zero without a summarizer.
func (p *Proxy) SummaryCounts() SummaryCounts {
	if p.summaries == nil {
		return SummaryCounts{}
	}
	return p.summaries.counts.now()
}

type summaryCounts struct {
	running atomic.Int64
	mu      sync.Mutex
	total   SummaryCounts
}

func (c *summaryCounts) filled(i *SummaryInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch i.Outcome {
	case SummaryHit:
		c.total.Hit++
	case SummaryMade:
		c.total.Made++
	default:
		count(&c.total.Digest, i.Reason)
	}
}

func (c *summaryCounts) ended(i *JobInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running.Add(-1)
	c.total.Tries += uint64(i.Tries)
	switch {
	case i.Reason != "":
		count(&c.total.Failed, i.Reason)
	case i.Made:
		c.total.Jobs++
	}
}

func (c *summaryCounts) now() SummaryCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.total
	t.Digest, t.Failed = maps.Clone(t.Digest), maps.Clone(t.Failed)
	t.Running = c.running.Load()
	return t
}

// count adds one. The reasons are words of ours, so there are few.
func count(m *map[string]uint64, reason string) {
	if *m == nil {
		*m = map[string]uint64{}
	}
	(*m)[reason]++
}
