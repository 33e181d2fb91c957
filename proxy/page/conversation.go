package page

import (
	"fmt"
	"hash/maphash"
	"time"

	"laconic/compact"
	"laconic/proxy"
	"laconic/view"
)

// identity names a conversation by how it begins: by its task, and, once there is
// one, by the answer to that. The proxy keeps no sessions, so this is
// a guess: conversations that begin the same and are told the same answer are taken
// for one.
type identity struct{ start, whole uint64 }

// mostHashed is how much of a text is hashed, in bytes.
const mostHashed = 4 << 10

// identify reads how a conversation begins. Its texts are hashed as they came.
func identify(seed maphash.Seed, c *compact.Conversation) (id identity) {
	first, last := compact.Task(c.Messages)
	if first < 0 {
		return id
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for i := first; i <= last; i++ {
		if m := &c.Messages[i]; m.Role == compact.User {
			write(&h, m)
		}
	}
	id.start = h.Sum64()
	for i := last + 1; i < len(c.Messages); i++ {
		if m := &c.Messages[i]; m.Role == compact.Assistant {
			write(&h, m)
			id.whole = h.Sum64()
			break
		}
	}
	return id
}

func write(h *maphash.Hash, m *compact.Message) {
	text := func(t compact.Text) {
		s, _ := t.Source()
		maphash.WriteComparable(h, len(s))
		_, _ = h.WriteString(s[:min(len(s), mostHashed)])
	}
	for i := range min(len(m.Parts), 4) {
		text(m.Parts[i].Text)
	}
	for i := range min(len(m.Calls), 4) {
		_, _ = h.WriteString(m.Calls[i].ID)
		_, _ = h.WriteString(m.Calls[i].Name)
		text(m.Calls[i].Arguments)
	}
}

// conversation is what is kept of the requests of one conversation.
type conversation struct {
	id     int
	tenant *tenant
	model  string
	key    convKey
	began  time.Time
	last   time.Time
	points []view.Point
	more   int // earlier points that left
	totals totals
	// of the last request that was answered
	before, epochs int
	caches         bool // an answer said that something was cached
}

const (
	mostConversations = 200
	mostPoints        = 400
)

type convKey struct {
	tenant *tenant
	hash   uint64
}

type conversations struct {
	seed  maphash.Seed
	next  int
	byKey map[convKey]*conversation
	// begun are conversations of one request, by how they started.
	begun map[convKey]*conversation
	order []*conversation // oldest first
}

func newConversations() conversations {
	return conversations{seed: maphash.MakeSeed(), byKey: map[convKey]*conversation{}, begun: map[convKey]*conversation{}}
}

// of returns the conversation of a request, a new one where there is none.
func (cs *conversations) of(id identity, t *tenant, now time.Time) *conversation {
	if id == (identity{}) {
		return nil
	}
	start, whole := convKey{t, id.start}, convKey{t, id.whole}
	c := cs.byKey[whole]
	if c == nil && id.whole != 0 {
		if c = cs.begun[start]; c != nil { // its second request
			delete(cs.begun, start)
			c.key = whole
			cs.byKey[whole] = c
		}
	}
	if c == nil {
		cs.next++
		c = &conversation{id: cs.next, tenant: t, began: now}
		if id.whole != 0 {
			c.key = whole
			cs.byKey[whole] = c
		} else {
			c.key = start
			cs.begun[start] = c
		}
		cs.order = append(cs.order, c)
		cs.drop()
	}
	c.last = now
	return c
}

// drop lets the conversation go that was not heard of for longest.
func (cs *conversations) drop() {
	if len(cs.order) <= mostConversations {
		return
	}
	oldest := 0
	for i, c := range cs.order {
		if c.last.Before(cs.order[oldest].last) && i < len(cs.order)-1 {
			oldest = i
		}
	}
	c := cs.order[oldest]
	for _, m := range []map[convKey]*conversation{cs.byKey, cs.begun} {
		if m[c.key] == c {
			delete(m, c.key)
		}
	}
	cs.order = append(cs.order[:oldest], cs.order[oldest+1:]...)
}

// add notes a request that is over.
func (c *conversation) add(p view.Point) {
	if len(c.points) == 2*mostPoints { // many at once, so that few are moved
		c.more += mostPoints
		c.points = append(c.points[:0], c.points[mostPoints:]...)
	}
	c.points = append(c.points, p)
}

// tenant is a sender of requests.
type tenant struct {
	name  string
	named bool // by the configuration
}

const mostTenants = 1000

type tenants struct {
	all   map[proxy.Sender]*tenant
	by    map[proxy.Sender]*tenant // of each credential, without a name
	other *tenant                  // those that are too many
}

func newTenants() tenants {
	return tenants{all: map[proxy.Sender]*tenant{}, by: map[proxy.Sender]*tenant{}, other: &tenant{name: "others"}}
}

// of returns the tenant of a sender, named as the configuration names its key, else
// by a part of the hash of its credential.
func (ts *tenants) of(s proxy.Sender) *tenant {
	credential := proxy.Sender{Credential: s.Credential}
	if t := ts.by[credential]; t != nil && (t.name == s.Key || s.Key == "" && !t.named) {
		return t
	}
	t := ts.named(s)
	if len(ts.by) < mostTenants {
		ts.by[credential] = t
	}
	return t
}

// named returns the tenant of a name, a new one where there is none.
func (ts *tenants) named(s proxy.Sender) *tenant {
	if s.Key != "" { // it may come in several headers
		s = proxy.Sender{Key: s.Key}
	}
	if t := ts.all[s]; t != nil {
		return t
	}
	if len(ts.all) >= mostTenants {
		return ts.other
	}
	t := &tenant{name: s.Key, named: s.Key != ""}
	switch {
	case s == proxy.Sender{}:
		t.name = "no key"
	case s.Key == "":
		t.name = fmt.Sprintf("key %x", s.Credential[:3])
	}
	ts.all[s] = t
	return t
}
