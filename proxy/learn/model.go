package learn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"laconic/compact"
	"laconic/proxy/overflow"
)

// Model is what is known of a model behind one upstream for one credential. It is
// safe for concurrent use.
type Model struct {
	memory         *Memory
	key            Key
	upstream, name string // for people
	sender         Key

	mu        sync.Mutex
	published compact.Published // by the upstream, as of the last request
	facts     Facts
	count     Calibration // nil: none
	ways      []string    // that count tells apart
	loaded    time.Time   // when Store was read last; zero: never
	// answered is the longest prompt that was answered, and refused the shortest
	// that was refused without a number which explains it, in tokens; 0: none was.
	// sure is what answered surely is at the least, where no answer counted it.
	// unsure is one whose refusal may be about something else, and taught nothing. No
	// plan depends on them.
	answered, sure, refused, unsure int
	// assumed is the window that was believed though nobody stated it, in tokens; 0: none
	// was.
	assumed int
	full    prompt // the first empty answer that counts as many tokens as the newest, a round number

	growth growth // of a conversation; the lock of its model guards it
}

// Published notes what the upstream publishes of the model. A window takes the place of
// one that was assumed.
func (m *Model) Published(p compact.Published) {
	m.mu.Lock()
	m.published = p
	assumed := m.assumed
	m.mu.Unlock()
	if p.Window > 0 && assumed > 0 {
		m.change(func(now time.Time, f *Facts) {
			if f.Window.Value == m.assumed {
				f.Window = believe(0, now, limitLife)
			}
		})
	}
}

// Facts returns what is known now. The first caller waits for the Store, others do
// not: what was read a while ago is read again in the background.
func (m *Model) Facts() Facts {
	m.mu.Lock()
	now := time.Now()
	first, due := m.loaded.IsZero(), m.memory.o.Store != nil && now.Sub(m.loaded) > storeFresh
	if due {
		m.loaded = now
	}
	m.mu.Unlock()
	if due && first {
		ctx, stop := context.WithTimeout(context.Background(), storeWait)
		defer stop()
		_, _, ok := m.load(ctx)
		due = !ok
	}
	if due {
		m.memory.sharing.add(m)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.facts.at(time.Now())
}

// load merges the stored facts into the known ones, and returns both; false if the
// Store did not answer. The newest count holds, even where this process measured
// another: processes that each see a third of the requests would otherwise plan the
// same conversation by different counts.
func (m *Model) load(ctx context.Context) (known, stored Facts, ok bool) {
	stored, ok = m.memory.o.Store.Load(ctx, m.key)
	now := time.Now()
	stored = stored.at(now)
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
	if m.memory.o.Store != nil && !next.Equal(before) {
		m.loaded = now
		m.memory.sharing.add(m)
	}
}

// learnFrom changes the facts by an answer to s, and those of its agent by how that
// was counted. A count by a way that s does not know is of another model, which the
// upstream had not said yet that it runs, or does not any more.
func (m *Model) learnFrom(s *Sent, learn func(now time.Time, f *Facts)) {
	change := func(now time.Time, f *Facts) {
		if f.Count.Value != (Count{}) && !slices.Contains(s.Ways, f.Count.Value.Way) {
			f.Count = believe(Count{Way: s.Ways[0]}, now, factLife)
		}
		learn(now, f)
	}
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

// SetDemands notes what the upstream's template demands of a list.
func (m *Model) SetDemands(s compact.Demands) {
	m.change(func(now time.Time, f *Facts) { f.Demands = believe(s, now, factLife) })
}

// AddCut notes a conversation whose bound thinking was taken out, by its name.
func (m *Model) AddCut(name string) {
	m.change(func(now time.Time, f *Facts) {
		f.Cuts = joined(f.Cuts, []Fact[string]{believe(name, now, factLife)}, now)
	})
}

// HasCut reports whether the thinking of a conversation was taken out.
func (f *Facts) HasCut(name string) bool {
	return slices.ContainsFunc(f.Cuts, func(c Fact[string]) bool { return c.Value == name })
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
	Sender     Key      `json:"-"` // names the credential; zero: there is none
	names      []string // of the facts
}

// Known returns what was learnt and what upstreams publish, of all models of which
// there is something to say, sorted.
func (m *Memory) Known() (all []Known) {
	now := time.Now()
	for _, e := range m.models.All() {
		e.mu.Lock()
		facts, published := e.facts.at(now), e.published
		e.mu.Unlock()
		k := Known{e.upstream, e.name, fmt.Sprintf("%x", e.key[:4]), nil, e.sender, nil}
		if published.Window > 0 {
			k.Facts = append(k.Facts, fmt.Sprintf("told a window of %d", published.Window))
		}
		if published.Input > 0 {
			k.Facts = append(k.Facts, fmt.Sprintf("told a prompt limit of %d", published.Input))
		}
		for _, l := range facts.list() {
			if l.known {
				k.Facts, k.names = append(k.Facts, l.words), append(k.names, l.name)
			}
		}
		if len(k.Facts) > 0 {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b Known) int { return strings.Compare(a.line(), b.line()) })
	return all
}

// Believed returns how many models each fact is believed of, by its name. Each model
// is behind one upstream and for one credential.
func (m *Memory) Believed() map[string]int {
	n := map[string]int{}
	for _, l := range (&Facts{}).list() {
		n[l.name] = 0
	}
	for _, k := range m.Known() {
		for _, name := range k.names {
			n[name]++
		}
	}
	delete(n, "")
	return n
}

func (k Known) line() string {
	return fmt.Sprintf("%s %q credential %s: %s\n", k.Upstream, k.Model, k.Credential, strings.Join(k.Facts, ", "))
}

// Describe lists what was learnt and what upstreams publish, a line for each
// upstream, model and credential, as far as a request asked for it since the start.
func (m *Memory) Describe() string {
	all := m.Known()
	text := fmt.Sprintf("learnt: %d\n", len(all))
	for _, k := range all[:min(len(all), mostShown)] {
		text += k.line()
	}
	return text
}

// crowded reports whether a refusal may be owed to something else than this prompt: to
// requests that share what is full, where the prompt is within a window that is known,
// or to whatever unknown words are about. Of these, and where no window is known, the
// second in a row is believed, with no such prompt answered between, and the first
// above a window that is stated.
func (m *Model) crowded(f *Facts, r overflow.Refusal, s *Sent, size int) bool {
	switch {
	case s.Stated && size > s.Limits.Window, !r.Unsure && !r.Shared:
		return false
	case r.Shared && (s.Stated || size <= f.Window.Value):
		return true
	}
	return !m.again(size)
}

// again reports whether a prompt is the second in a row that was refused for what may
// be something else, and notes it.
func (m *Model) again(size int) bool {
	again := m.unsure > 0
	m.unsure = size
	return again
}
