package proxy

import (
	"slices"
	"sync"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/summarize/prompt"
	"laconic/store"
)

// A summarizer that failed is left alone for a while, longer each time. So is
// a gap that it could not summarize, and only that where its content may be
// the reason: one client's is none to leave the others without. Where each client brings its own
// credential, each has its own summarizer in this sense: the wrong key of one
// is no reason not to serve another.
var coolDowns = []time.Duration{60 * time.Second, 300 * time.Second, 900 * time.Second}

// cool is what is known of failures. failures is 0 after a success.
type cool struct {
	mu       sync.Mutex
	failures int
	until    time.Time
	doubts   []store.Key // gaps whose content may be why they failed, since the last success
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
	c.down()
}

func (c *cool) down() {
	c.doubts = nil
	if time.Now().Before(c.until) {
		return
	}
	c.until = time.Now().Add(coolDowns[min(c.failures, len(coolDowns)-1)])
	c.failures++
}

// mostDoubts is how many gaps may fail in a row, each for what may be in it,
// until the summarizer is taken to be the reason.
const mostDoubts = 5

// doubt notes that a gap failed, and that its content may be why.
func (s *summaries) doubt(name string, gap store.Key) {
	c, _ := s.cooling.ComputeIfAbsent(name, func() (*cool, bool) { return &cool{}, false })
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.doubts, gap) {
		return
	}
	if c.doubts = append(c.doubts, gap); len(c.doubts) >= mostDoubts {
		c.down()
	}
}

// ofContent tells whether what a model was asked may be why it failed.
func ofContent(why string) bool {
	switch prompt.Refused(why) {
	case prompt.Empty, prompt.Short, prompt.Longer, prompt.TooLarge, prompt.CalledTool, prompt.CutOff, prompt.Unfinished, prompt.NoText,
		// A filter of contents answers so, or a window that is smaller than was thought.
		"status_400", "status_413", "status_422":
		return true
	}
	return false
}

// ofSummarizer reports whether the summarizer is why there is no summary, and not
// what it was asked, nor what happened here.
func (i *JobInfo) ofSummarizer() bool {
	switch i.Reason {
	case "", "memory", "elsewhere", "shutdown":
		return false
	}
	return i.Tries > 0 && !ofContent(i.Reason)
}

// warmUp notes a success.
func (s *summaries) warmUp(name string) { s.cooling.Invalidate(name) }

// credential names the credential that a summarizer is asked with.
func (o *Summarizer) credential(t *trip) string {
	if !o.ClientCredential {
		return "own"
	}
	parts := access.Credentials(clientCredential(t.r.Header))
	key := o.Store.Key(append([]string{"credential"}, parts...)...) // nothing is kept under it
	return string(key[:])
}
