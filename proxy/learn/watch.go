package learn

import (
	"context"
	"time"
)

// Watcher is a Store that says when a process has saved facts, so that others know
// them as soon as they are.
type Watcher interface {
	// Watch calls saved with the key of facts that some process has saved, and missed
	// where it may have overlooked some. It returns when ctx is done, or at once where
	// no other process can save.
	Watch(ctx context.Context, saved func(Key), missed func())
}

// watch reads what other processes save as they do, until the Memory is closed.
func (m *Memory) watch() {
	w, ok := m.o.Store.(Watcher)
	if !ok {
		return
	}
	m.watching.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				m.o.Failed(v)
			}
		}()
		w.Watch(m.background.ctx, m.saved, m.missed)
	})
}

// saved notes that some process has saved facts, and reads those that requests of
// this one asked for.
func (m *Memory) saved(key Key) {
	if e, ok := m.models.GetIfPresent(key); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.loaded.IsZero() {
			return // the first request reads it
		}
		e.loaded = time.Now()
		if !m.background.start(e.follow) {
			e.loaded = e.loaded.Add(-storeFresh)
		}
	}
}

// missed has what is stored read again when it is asked for.
func (m *Memory) missed() {
	for _, e := range m.models.All() {
		e.mu.Lock()
		if !e.loaded.IsZero() {
			e.loaded = time.Now().Add(-storeFresh)
		}
		e.mu.Unlock()
	}
}

// answerPause is how often, at most, a process adds to what another one has saved
// because that one did: two could go on for ever.
const answerPause = time.Second

// follow merges what another process has saved. Where that lacks what is known here,
// as when both saved at once, the result is stored.
func (m *Model) follow(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*storeWait)
	defer stop()
	known, stored := m.load(ctx)
	if known == stored {
		return
	}
	m.mu.Lock()
	now := time.Now()
	again := now.Sub(m.answering) >= answerPause
	if again {
		m.answering = now
	} else {
		m.loaded = now.Add(-storeFresh)
	}
	m.mu.Unlock()
	if again {
		m.save(ctx, known)
	}
}
