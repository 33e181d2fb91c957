package learn

import (
	"context"
	"time"

	"laconic/compact"
)

const (
	// loadedWait is how long a request may wait for the window of a model that was
	// loaded by the request before.
	loadedWait = 100 * time.Millisecond
	// maxCold is how often that is asked for: when an answer begins, and at its end.
	maxCold = 2
)

// Loaded is called once an upstream has begun to answer for a model, and once more
// at the end of that. If the upstream publishes windows of loaded models alone, and
// had not loaded this one when it was asked, it is asked again at once. Where it has
// none to tell then, Loaded returns the one that it has by default; 0: not known.
func (m *Memory) Loaded(u Upstream, model string) (unset int) {
	a, ok := m.upstreams.GetIfPresent(m.Key("windows", u.URL.String(), u.Account))
	if !ok {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	switch {
	case !a.loads && !a.asking, a.of(model, now) != compact.Published{}, a.cold == 0 && a.asking:
		return 0
	case a.cold == 0:
		return a.unset
	}
	a.cold--
	if a.again = a.asking; !a.asking {
		m.begin(a, u, model, now)
	}
	if a.asking && a.loaded == nil {
		a.loaded = make(chan struct{})
	}
	return 0
}

// Doubt asks an upstream again that published a window of a model, once an answer
// contradicts it: it may have been started anew with another. It asks once a minute
// at most. The next request waits for the answer as it does behind [Memory.Loaded].
func (m *Memory) Doubt(u Upstream, model string) {
	a, ok := m.upstreams.GetIfPresent(m.Key("windows", u.URL.String(), u.Account))
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if a.asking || a.of(model, now).Window == 0 || now.Sub(a.doubted) < firstPause {
		return
	}
	a.doubted = now
	if m.begin(a, u, model, now); a.asking {
		a.loaded = make(chan struct{})
	}
}

// await waits a little for the answer to a question that Loaded asked. The lock is
// held, but not while it waits.
func (a *upstream) await() {
	loaded := a.loaded
	if loaded == nil {
		return
	}
	a.mu.Unlock()
	defer a.mu.Lock()
	timer := time.NewTimer(loadedWait)
	defer timer.Stop()
	select {
	case <-loaded:
	case <-timer.C:
		a.mu.Lock()
		if a.loaded == loaded {
			a.loaded = nil // others do not wait, too
		}
		a.mu.Unlock()
	}
}

// begin begins to ask an upstream, unless the credential may not. The lock is held.
func (m *Memory) begin(a *upstream, u Upstream, model string, now time.Time) {
	auth := u.Header()
	who := m.credential(u, auth)
	if now.Before(a.denied[who]) {
		return
	}
	a.asking = m.background.start(func(ctx context.Context) {
		for m.ask(ctx, a, u, auth, who, model) {
		}
	})
	if !a.asking {
		a.next = now.Add(firstPause)
	}
}
