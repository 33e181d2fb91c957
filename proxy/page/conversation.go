package page

import (
	"fmt"
	"slices"
	"time"

	"laconic/compact"
	"laconic/proxy"
	"laconic/proxy/fingerprint"
	"laconic/view"
)

// identity names a conversation by how it begins: by its task, and, once there is
// one, by the answer to that. The proxy keeps no sessions, so this is
// a guess: conversations that begin the same and are told the same answer are taken
// for one.
type identity struct{ start, whole string }

// identify reads how a conversation begins. secret tells its hashes from those of other
// processes.
func identify(secret []byte, c *compact.Conversation) (id identity) {
	first, last := compact.Task(c.Messages)
	if first < 0 {
		return id
	}
	list := fingerprint.NewChain(secret)
	for i := first; i <= last; i++ {
		if m := &c.Messages[i]; m.Role == compact.User {
			list.Add(m)
		}
	}
	id.start = list.Sum()
	after := c.Messages[last+1:]
	if i := slices.IndexFunc(after, func(m compact.Message) bool { return m.Role == compact.Assistant }); i >= 0 {
		list.Add(&after[i])
		id.whole = list.Sum()
	}
	return id
}

// conversation is what is kept of the requests of one conversation.
type conversation struct {
	conversationLine
	identity
	// of the last request that was answered
	before, epochs int
	caches         bool // an answer said that something was cached
}

const (
	mostConversations = 200
	mostPoints        = 400
)

// conversationOf returns the conversation of a request, a new one where there is none.
// The caller holds mu.
func (p *Page) conversationOf(id identity, from proxy.Sender, now time.Time) *conversation {
	if id == (identity{}) {
		return nil
	}
	client := nameOf(from)
	find := func(is func(*conversation) bool) *conversation {
		for i, c := range slices.Backward(p.convs) {
			if c.Client == client && is(c) {
				p.convs = slices.Delete(p.convs, i, i+1)
				return c
			}
		}
		return nil
	}
	var c *conversation
	if id.whole != "" {
		if c = find(func(c *conversation) bool { return c.whole == id.whole }); c == nil { // its second request
			c = find(func(c *conversation) bool { return c.whole == "" && c.start == id.start })
		}
	}
	if c == nil {
		p.begun++
		c = &conversation{conversationLine: conversationLine{ID: p.begun, Client: client, Named: from.Key != "", Began: now}}
	}
	c.identity, c.Last = id, now
	if p.convs = append(p.convs, c); len(p.convs) > mostConversations {
		p.convs = slices.Delete(p.convs, 0, 1)
	}
	return c
}

// add notes a request that is over.
func (c *conversation) add(p view.Point) {
	if c.Points = append(c.Points, p); len(c.Points) > mostPoints {
		c.Points = slices.Delete(c.Points, 0, 1)
		c.More++
	}
}

// nameOf returns the name of a sender: as the configuration names its key, else a part
// of the hash of its credential.
func nameOf(s proxy.Sender) string {
	switch {
	case s.Key != "":
		return s.Key
	case s == proxy.Sender{}:
		return "no key"
	}
	return fmt.Sprintf("key %x", s.Credential[:3])
}
