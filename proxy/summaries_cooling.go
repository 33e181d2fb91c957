package proxy

import (
	"sync"
	"time"
)

// A summarizer that failed is left alone for a while, longer each time. So is
// a gap that it could not summarize. Where each client brings its own
// credential, each has its own summarizer in this sense: the wrong key of one
// is no reason not to serve another.
var coolDowns = []time.Duration{60 * time.Second, 300 * time.Second, 900 * time.Second}

// cool is what is known of failures. failures is 0 after a success.
type cool struct {
	mu       sync.Mutex
	failures int
	until    time.Time
}

// isCooling tells whether something is to be left alone.
func (s *summaries) isCooling(name string) bool {
	c, ok := s.cooling.GetIfPresent(name)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.until)
}

// coolDown notes a failure. Of several that were under way at once only the
// first counts.
func (s *summaries) coolDown(name string) {
	c, _ := s.cooling.ComputeIfAbsent(name, func() (*cool, bool) { return &cool{}, false })
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().Before(c.until) {
		return
	}
	c.until = time.Now().Add(coolDowns[min(c.failures, len(coolDowns)-1)])
	c.failures++
}

// warmUp notes a success.
func (s *summaries) warmUp(name string) { s.cooling.Invalidate(name) }

// credential names the credential that a summarizer is asked with.
func (o *Summarizer) credential(t *trip) string {
	if !o.ClientCredential {
		return "own"
	}
	parts := credentials(clientCredential(t.r.Header))
	key := o.Store.Key(append([]string{"credential"}, parts...)...) // nothing is kept under it
	return string(key[:])
}
