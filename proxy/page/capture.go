package page

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"laconic/proxy"
	"laconic/proxy/summarize/redact"
)

// capture keeps the texts of the newest requests, masked. It is bounded in total: when
// it is full, the tenant that holds most of it loses its oldest request, so one that
// sends much pushes out what is its own. A request waits until its texts are copied,
// and for nothing else.
type capture struct {
	size int

	mu      sync.Mutex
	held    int // bytes, with those that wait
	byID    map[string]*captured
	shares  map[*tenant]*share
	waiting []*captured // to be masked, oldest first
	copying int         // requests whose texts are being copied, to wait then
	masking bool        // a goroutine masks those that wait
	closed  bool
	ended   sync.WaitGroup // of that goroutine
}

// captured is the texts of one request.
type captured struct {
	id     string
	tenant *tenant
	size   int
	same   bool          // what was sent is what came
	masked bool          // until then nobody sees them
	ready  chan struct{} // closed when they are masked, or left before
	// before is what came, and after what was sent; nil: nothing, or the same.
	before, after []byte
}

// share is what a capture keeps of one tenant.
type share struct {
	all  []*captured // oldest first
	held int
}

const (
	// mostWaiting is how many requests wait to be masked.
	mostWaiting = 64
	// capturedRoom is about what a request takes beside its texts, in bytes.
	capturedRoom = 300
)

func newCapture(size int) *capture {
	return &capture{size: size, byID: map[string]*captured{}, shares: map[*tenant]*share{}}
}

// take copies the texts of a request, which are masked later. Those of a request that
// takes more than half of the capture, or that comes while too many wait, are not
// kept.
func (c *capture) take(i *proxy.PlanInfo, t *tenant) {
	sent := i.SentBody
	same := len(sent) > 0 && len(i.Body) > 0 && &sent[0] == &i.Body[0]
	if same {
		sent = nil
	}
	one := &captured{id: i.ID, tenant: t, same: same, size: capturedRoom + len(i.Body) + len(sent), ready: make(chan struct{})}
	if !c.reserve(one) {
		return
	}
	before, after := bytes.Clone(i.Body), bytes.Clone(sent)
	c.mu.Lock()
	defer c.mu.Unlock()
	one.before, one.after = before, after
	c.copying--
	c.waiting = append(c.waiting, one)
	if !c.masking && !c.closed {
		c.masking = true
		c.ended.Go(c.mask)
	}
}

// reserve gives a request its room, and reports whether there is any.
func (c *capture) reserve(one *captured) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || one.size > c.size/2 || len(c.waiting)+c.copying >= mostWaiting {
		return false
	}
	if first := c.byID[one.id]; first != nil { // and one is the second send
		c.remove(first)
	}
	s := c.shares[one.tenant]
	if s == nil {
		s = &share{}
		c.shares[one.tenant] = s
	}
	c.byID[one.id] = one
	s.all = append(s.all, one)
	c.resize(one, one.size)
	if c.byID[one.id] != one { // its tenant held most
		return false
	}
	c.copying++
	return true
}

// resize notes that a request takes more or fewer bytes, and makes room for them.
func (c *capture) resize(one *captured, by int) {
	c.shares[one.tenant].held += by
	for c.held += by; c.held > c.size; {
		var most *share
		for _, s := range c.shares {
			if most == nil || s.held > most.held {
				most = s
			}
		}
		c.remove(most.all[0])
	}
}

func (c *capture) remove(one *captured) {
	delete(c.byID, one.id)
	if !one.masked {
		close(one.ready)
	}
	c.held -= one.size
	s := c.shares[one.tenant]
	s.held -= one.size
	if s.all[0] == one {
		s.all[0] = nil
		s.all = s.all[1:]
	} else {
		s.all = slices.DeleteFunc(s.all, func(other *captured) bool { return other == one })
	}
	if len(s.all) == 0 {
		delete(c.shares, one.tenant)
	}
}

// mask masks texts for as long as any wait.
func (c *capture) mask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) > 0 && !c.closed {
		one := c.waiting[0]
		c.waiting[0] = nil
		c.waiting = c.waiting[1:]
		if c.byID[one.id] != one { // it left
			continue
		}
		c.mu.Unlock()
		before, errBefore := masked(one.before)
		after, errAfter := masked(one.after)
		c.mu.Lock()
		switch {
		case c.byID[one.id] != one:
		case errBefore != nil || errAfter != nil:
			c.remove(one)
		default:
			size := capturedRoom + len(before) + len(after)
			by := size - one.size
			one.before, one.after, one.masked, one.size = before, after, true, size
			close(one.ready)
			c.resize(one, by)
		}
	}
	c.waiting, c.masking = nil, false
}

// await returns the texts of a request, once they are masked; nil: they are not kept.
func (c *capture) await(ctx context.Context, id string) *captured {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	one := c.byID[id]
	c.mu.Unlock()
	if one == nil {
		return nil
	}
	select {
	case <-one.ready:
	case <-ctx.Done():
	}
	return c.texts(id)
}

// texts returns the texts of a request; nil: they are not kept, or not masked.
func (c *capture) texts(id string) *captured {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.byID[id]; one != nil && one.masked {
		return one
	}
	return nil
}

// forget drops the texts of a tenant, by its name, or of all with "".
func (c *capture) forget(tenant string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t, s := range c.shares {
		if tenant == "" || t.name == tenant {
			for _, one := range slices.Clone(s.all) {
				c.remove(one)
			}
		}
	}
}

// close ends the masking. What waits for it is not kept.
func (c *capture) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	for _, one := range c.byID {
		if !one.masked {
			c.remove(one)
		}
	}
	c.mu.Unlock()
	c.ended.Wait()
}

// masked returns a body on one line, with a mark in place of what looks like a
// credential. A fault of the masking is an error, and costs no more than the text.
func masked(body []byte) (text []byte, err error) {
	if len(body) == 0 {
		return nil, nil
	}
	defer func() {
		if recover() != nil {
			text, err = nil, errors.New("masking failed")
		}
	}()
	text, err = redact.JSON(body)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(text)
	err = value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
	return bytes.Clone(value), err
}

// capturedView is the texts of a request as the page gets them.
type capturedView struct {
	Before jsontext.Value `json:"before"`
	After  jsontext.Value `json:"after,omitempty"`
	Same   bool           `json:"same,omitempty"`
}

// serveTexts is the texts of a request; with .jsonl behind its id the request as
// laconic replay reads it.
func (p *Page) serveTexts(w http.ResponseWriter, r *http.Request) {
	id, download := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/page/api/texts/"), ".jsonl")
	one := p.capture.await(r.Context(), id)
	switch {
	case one == nil:
		http.Error(w, "The texts of this request are not kept.", http.StatusNotFound)
	case download:
		w.Header().Set("Content-Type", "application/jsonl")
		w.Header().Set("Content-Disposition", `attachment; filename="`+one.id+`.jsonl"`)
		_, _ = w.Write(append(bytes.Clone(one.before), '\n'))
	default:
		serveJSON(w, capturedView{Before: one.before, After: one.after, Same: one.same})
	}
}
