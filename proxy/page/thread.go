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
// a guess: conversations that begin the same and get the same answer are taken
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

// thread is what is kept of the requests that are taken for one conversation.
type thread struct {
	threadLine
	identity
	// of the last request that was answered
	before, epochs int
	caches         bool // an answer said that something was cached
}

const (
	mostThreads = 200
	mostPoints  = 400
)

// threadOf returns the thread of a request, and makes it if it is new.
// The caller holds mu.
func (p *Page) threadOf(id identity, from proxy.Sender, now time.Time) *thread {
	if id == (identity{}) {
		return nil
	}
	client := nameOf(from)
	find := func(is func(*thread) bool) *thread {
		for i, t := range slices.Backward(p.threads) {
			if t.Client == client && is(t) {
				p.threads = slices.Delete(p.threads, i, i+1)
				return t
			}
		}
		return nil
	}
	var t *thread
	if id.whole != "" {
		if t = find(func(t *thread) bool { return t.whole == id.whole }); t == nil { // its second request
			t = find(func(t *thread) bool { return t.whole == "" && t.start == id.start })
		}
	}
	if t == nil {
		p.begun++
		t = &thread{threadLine: threadLine{ID: p.begun, Client: client, Named: from.Key != "", Began: now}}
	}
	t.identity, t.Last = id, now
	if p.threads = append(p.threads, t); len(p.threads) > mostThreads {
		p.threads = slices.Delete(p.threads, 0, 1)
	}
	return t
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

// totals are what was sent and what was not, of one request or of many. Tokens are as
// the proxy counts, but for Prompt and Cached, which are as upstreams say.
type totals struct {
	// Requests are those that went to an upstream, Unsent those that none got; nothing
	// else counts them.
	Requests int `json:"requests"`
	Unsent   int `json:"unsent,omitempty"`
	// Before is what clients sent, Sent what went on.
	Before int `json:"before"`
	Sent   int `json:"sent"`
	// Stated is how many answers stated what a cache served; the next two are of those alone.
	Stated int `json:"told"`
	Prompt int `json:"prompt"`
	Cached int `json:"cached"`
	// Rewritten is what was sent anew because an epoch changed what was sent before,
	// and which a prompt cache would have served.
	Rewritten int `json:"rewritten"`
	Epochs    int `json:"epochs"` // those that began with a request that was sent

	Summaries     int `json:"summaries"`
	SummaryTokens int `json:"summary_tokens"`
}

// add adds what a request took.
func (t *totals) add(o *totals) {
	for of, n := range map[*int]int{
		&t.Requests: o.Requests, &t.Unsent: o.Unsent, &t.Before: o.Before, &t.Sent: o.Sent, &t.Stated: o.Stated,
		&t.Prompt: o.Prompt, &t.Cached: o.Cached, &t.Rewritten: o.Rewritten, &t.Epochs: o.Epochs,
	} {
		*of += n
	}
}

// account works out what a request took, and adds it to its thread and to all. The
// caller holds mu.
func (p *Page) account(r *request) {
	i, t := r.reply.Rewrite, r.thread
	if i == nil || i.Outcome == proxy.Rejected {
		return
	}
	report := &i.Report
	point := view.Point{ID: r.id, Before: report.Before, Sent: report.After, Budget: report.Budget, Cached: -1, State: string(r.reply.Outcome), Unsent: r.reply.Unsent}
	k := totals{Requests: 1, Before: report.Before, Sent: report.After}
	switch {
	case r.reply.Unsent:
		k, point.Sent = totals{Unsent: 1}, 0
	case i.Outcome == proxy.Shadow:
		k.Sent = k.Before
	case i.NewEpoch:
		k.Epochs, point.Epoch = 1, true
	}
	if u := r.reply.Usage; u != nil && u.Prompt > 0 && u.CacheStated && !r.reply.Unsent {
		k.Stated, k.Prompt, k.Cached, point.Cached = 1, u.Prompt, u.Cached, u.Cached
		// Other counts may move an epoch that began earlier, which costs the same.
		if t != nil && (k.Epochs > 0 || report.Epochs > t.epochs) && t.caches && i.Outcome != proxy.Shadow {
			fresh := max(0, k.Before-t.before) // what the client added
			k.Rewritten = max(0, u.Prompt-u.Cached-fresh)
		}
	}
	if t != nil {
		t.caches = t.caches || k.Cached > 0
		if r.reply.Status == 200 && !r.reply.Unsent {
			t.before, t.epochs = k.Before, report.Epochs
		}
		t.Totals.add(&k)
		if t.Points = append(t.Points, point); len(t.Points) > mostPoints {
			t.Points = slices.Delete(t.Points, 0, 1)
			t.More++
		}
	}
	p.totals.add(&k)
	r.cost = k
}
