package learn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"laconic/compact"
)

// Store keeps facts beyond this process. It may be slow, absent or lying: a
// request waits for it, for no longer than storeWait, when its key is new here.
// Otherwise it is read and written in the background: at every change, every
// storeFresh, and until it has taken what changed. Both methods end with their
// context. Safe for concurrent use.
type Store interface {
	// Load returns what is kept, the zero Facts for nothing, and reports whether the
	// Store answered.
	Load(ctx context.Context, key Key) (Facts, bool)
	// Save reports whether others will find f.
	Save(ctx context.Context, key Key, f Facts) bool
}

const (
	// storeWait is how long a request may wait for a Store.
	storeWait = 100 * time.Millisecond
	// storeFresh is how old what other processes have learnt may be, where nobody
	// says that they have.
	storeFresh = time.Minute
)

// Model is what is known of a model behind one upstream for one credential. It is
// safe for concurrent use.
type Model struct {
	memory   *Memory
	key      Key
	upstream string // for people
	name     string

	mu        sync.Mutex
	published compact.Published // by the upstream, as of the last request
	facts     Facts
	count     Calibration // nil: none
	loaded    time.Time   // when Store was read last; zero: never
	counted   time.Time   // since when saves are counted
	saves     int
	// answered is the longest prompt that was answered, and refused the shortest
	// that was refused without a number which explains it, in tokens; 0: none was.
	// No plan depends on them.
	answered, refused int
	billed            billed // the last answer that had a bill
	starved           starved

	sender atomic.Pointer[Key]
}

// Sender returns the key of the credential under which the model is known. make
// makes it, for the first who asks.
func (m *Model) Sender(make func() Key) Key {
	if key := m.sender.Load(); key != nil {
		return *key
	}
	key := make()
	m.sender.Store(&key)
	return key
}

// Published notes what the upstream publishes of the model.
func (m *Model) Published(p compact.Published) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.published = p
}

// Facts returns what is known now. The first caller waits for the Store, others
// do not.
func (m *Model) Facts() Facts {
	if m.isFirst() {
		ctx, stop := context.WithTimeout(context.Background(), storeWait)
		defer stop()
		if _, _, ok := m.load(ctx); !ok {
			m.memory.sharing.later(m)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.facts.at(time.Now())
}

// FactsWith returns the same, with the counts that are known under another key.
func (m *Model) FactsWith(counts *Model) Facts {
	f := m.Facts()
	if counts != m {
		f.Count = counts.Facts().Count
	}
	return f
}

// isFirst reports whether the Store was never read, and notes that it is now. What
// was read a while ago is read again in the background.
func (m *Model) isFirst() bool {
	if m.memory.o.Store == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	first := m.loaded.IsZero()
	if first || now.Sub(m.loaded) > storeFresh {
		m.loaded = now
		if !first {
			m.memory.sharing.add(m)
		}
	}
	return first
}

// load merges what is stored into what is known, and returns both; false if the
// Store did not answer. Of counts the newest holds, even where this process measured another: by the answers of a third
// of the requests each, processes would plan the same conversation by different
// counts.
func (m *Model) load(ctx context.Context) (known, stored Facts, ok bool) {
	stored, ok = m.memory.o.Store.Load(ctx, m.key)
	now := time.Now()
	if !ok || !stored.plausible(now) {
		stored = Facts{}
	}
	stored = stored.at(now)
	stored.Cuts = stored.Cuts.checked(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.facts.at(now)
	m.facts = before.with(stored, now)
	if m.facts.Count.Value != before.Count.Value {
		m.count = nil // it starts anew from what others have measured
	}
	return m.facts, stored, ok
}

// change changes the facts, and stores them.
func (m *Model) change(f func(now time.Time, l *Facts)) {
	m.mu.Lock()
	defer m.mu.Unlock() // also when f, which calls a Calibration, panics
	now := time.Now()
	before, next := m.facts, m.facts.at(now)
	f(now, &next)
	m.facts = next
	if m.memory.o.Store == nil || next == before {
		return
	}
	m.loaded = now
	m.memory.sharing.add(m)
}

// learnFrom changes the facts by an answer to s, and those of its agent by how that
// was counted.
func (m *Model) learnFrom(s *Sent, change func(now time.Time, f *Facts)) {
	if s.Agent == nil || s.Agent == m {
		m.change(change)
		return
	}
	s.Agent.change(func(_ time.Time, agent *Facts) {
		m.change(func(now time.Time, f *Facts) {
			own := f.Count
			f.Count = agent.Count
			change(now, f)
			agent.Count, f.Count = f.Count, own
		})
	})
}

// SetShape notes what the upstream's template demands of a list.
func (m *Model) SetShape(s compact.Demands) {
	m.change(func(now time.Time, f *Facts) { f.Shape = believe(s, now, shapeLife) })
}

// AddCut notes a conversation whose bound thinking was taken out.
func (m *Model) AddCut(key CutKey) {
	m.change(func(now time.Time, f *Facts) { f.Cuts = f.Cuts.with(key, now) })
}

// mostShown bounds a page for people.
const mostShown = 200

// Known is what is known of a model behind one upstream for one credential, in
// words.
type Known struct {
	Upstream   string   `json:"upstream"`
	Model      string   `json:"model"`
	Credential string   `json:"credential"` // the start of a keyed hash
	Facts      []string `json:"facts"`
	Sender     *Key     `json:"-"` // see Model.Sender; nil: nobody asked
}

// Known returns what was learnt and what upstreams publish, of all models of which
// there is something to say.
func (m *Memory) Known() (all []Known) {
	now := time.Now()
	for _, e := range m.models.All() {
		e.mu.Lock()
		facts, published := e.facts.at(now), e.published
		e.mu.Unlock()
		var words []string
		if published.Window > 0 {
			words = append(words, fmt.Sprintf("told a window of %d", published.Window))
		}
		if published.Input > 0 {
			words = append(words, fmt.Sprintf("told a prompt limit of %d", published.Input))
		}
		if words = append(words, facts.Words()...); len(words) > 0 {
			all = append(all, Known{e.upstream, e.name, fmt.Sprintf("%x", e.key[:4]), words, e.sender.Load()})
		}
	}
	return all
}

// Describe lists what was learnt and what upstreams publish, a line for each
// upstream, model and credential. A credential is shown as the first letters of a
// keyed hash. What is stored has no names, so it is listed once a request asked
// for it.
func (m *Memory) Describe() string {
	var lines []string
	for _, k := range m.Known() {
		lines = append(lines, fmt.Sprintf("%s %q credential %s: %s\n", k.Upstream, k.Model, k.Credential, strings.Join(k.Facts, ", ")))
	}
	slices.Sort(lines)
	more, elsewhere := "", ""
	if m.o.Store != nil {
		elsewhere = ", of what was asked for since the start; the store may hold more"
	}
	if n := len(lines) - mostShown; n > 0 {
		lines, more = lines[:mostShown], fmt.Sprintf("and %d more\n", n)
	}
	return fmt.Sprintf("learnt: %d%s\n", len(lines), elsewhere) + strings.Join(lines, "") + more
}
