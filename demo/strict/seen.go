package strict

import (
	"net/http"
	"time"
)

// Seen is one request as it arrived.
type Seen struct {
	At      time.Time
	Method  string
	Path    string // as sent, query included
	Header  http.Header
	Host    string
	Body    []byte   // raw bytes; shared, do not change them
	Status  int      // what was answered; 0 while the body was still being read
	Refusal *Refusal // nil when it was answered
	Usage   *Usage   // nil unless a chat completion was answered
	Left    bool     // the client left, or the script cut the answer, before its end
}

// ring keeps the newest requests within two bounds.
type ring struct {
	keep, keepBytes int
	items           []*Seen // oldest first
	bytes           int
	total           int
}

func (g *ring) add(s *Seen) {
	g.items = append(g.items, s)
	g.bytes += len(s.Body)
	g.total++
	drop := 0
	for len(g.items)-drop > 1 && (len(g.items)-drop > g.keep || g.bytes > g.keepBytes) {
		g.bytes -= len(g.items[drop].Body)
		g.items[drop] = nil // lets the body go although the array stays
		drop++
	}
	g.items = g.items[drop:]
}

func (u *Upstream) record(r *http.Request, body []byte) *Seen {
	s := &Seen{
		At: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Host: r.Host, Body: body,
	}
	u.update(func() { u.ring.add(s) })
	return s
}

// update runs f while nobody reads.
func (u *Upstream) update(f func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f()
}

// Requests is what is remembered, oldest first.
func (u *Upstream) Requests() []Seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make([]Seen, len(u.ring.items))
	for i, s := range u.ring.items {
		all[i] = *s
	}
	return all
}

// Last is the newest request; false when there was none.
func (u *Upstream) Last() (Seen, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.ring.items) == 0 {
		return Seen{}, false
	}
	return *u.ring.items[len(u.ring.items)-1], true
}

// Total is how many requests arrived since the start, forgotten ones included.
func (u *Upstream) Total() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ring.total
}

// Forget empties the record and the prompt cache. Total starts again at 0.
func (u *Upstream) Forget() {
	u.update(func() {
		u.ring = ring{keep: u.o.Keep, keepBytes: u.o.KeepBytes}
		u.cached = NewPromptCache()
	})
}
