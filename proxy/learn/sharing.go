package learn

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/errgroup"
)

const (
	// saveAgain is after how long facts are saved that could not be.
	saveAgain = time.Second
	// mostSaves is how often, at most, a process saves the facts of a model in a
	// saveAgain. Each answers what others save: two could go on for ever.
	mostSaves = 4
	// mostShares bounds what the Store is asked at a time.
	mostShares = 8
	// lastShares is how long what is due is saved at the end.
	lastShares = time.Second
)

// sharing makes what is known and what is stored the same, in the background. What
// the Store does not say or take is tried again every saveAgain, so that both have
// all once it is back.
type sharing struct {
	failed func(v any)
	wake   chan struct{} // holds one

	mu    sync.Mutex
	due   map[*Model]struct{}
	again map[*Model]struct{} // could not be read or saved
}

func newSharing(failed func(v any)) *sharing {
	return &sharing{failed: failed, wake: make(chan struct{}, 1), due: map[*Model]struct{}{}, again: map[*Model]struct{}{}}
}

// add has the facts of a model read and saved at once.
func (s *sharing) add(m *Model) {
	s.mu.Lock()
	keep(s.due, m)
	s.mu.Unlock()
	s.stir()
}

// later has the facts of a model read and saved after saveAgain.
func (s *sharing) later(m *Model) {
	s.mu.Lock()
	keep(s.again, m)
	s.mu.Unlock()
	s.stir()
}

// stir has run look at what is due.
func (s *sharing) stir() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// keep adds a model to a set that is as bounded as what is remembered.
func keep(set map[*Model]struct{}, m *Model) {
	if len(set) < mostModels {
		set[m] = struct{}{}
	}
}

// run shares what is due until ctx is done, and then what is left, once.
func (s *sharing) run(ctx context.Context) {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lastShares)
			defer stop()
			s.share(ctx, s.take(&s.due))
			s.share(ctx, s.take(&s.again))
			return
		case <-s.wake:
			s.share(context.WithoutCancel(ctx), s.take(&s.due))
		case <-again:
			again = nil
			s.share(context.WithoutCancel(ctx), s.take(&s.again))
		}
		s.mu.Lock()
		if again == nil && len(s.again) > 0 {
			again = time.After(saveAgain)
		}
		s.mu.Unlock()
	}
}

// take returns a set and leaves an empty one.
func (s *sharing) take(set *map[*Model]struct{}) map[*Model]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := *set
	*set = map[*Model]struct{}{}
	return all
}

// share shares the facts of models, a few at a time. After the first for which the
// Store did not answer, the others wait as well: it is asked little while it is away.
func (s *sharing) share(ctx context.Context, models map[*Model]struct{}) {
	var group errgroup.Group
	group.SetLimit(mostShares)
	var away atomic.Bool
	for m := range models {
		group.Go(func() error {
			defer func() {
				if v := recover(); v != nil {
					s.failed(v)
				}
			}()
			shared := false
			if !away.Load() {
				var answered bool
				if shared, answered = m.share(ctx); !answered {
					away.Store(true)
				}
			}
			if !shared {
				s.later(m)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// share merges what other processes have learnt, and saves the result where the
// Store lacks some of it. It reports whether the Store has all, and whether it did
// what it was asked.
func (m *Model) share(ctx context.Context) (all, answered bool) {
	ctx, stop := context.WithTimeout(ctx, 2*storeWait)
	defer stop()
	known, stored, ok := m.load(ctx)
	switch {
	case !ok:
		return false, false
	case known == stored:
		return true, true
	case !m.maySave():
		return false, true
	}
	saved := m.memory.o.Store.Save(ctx, m.key, known)
	return saved, saved
}

// maySave counts a save, and reports whether there were few of late.
func (m *Model) maySave() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); now.Sub(m.counted) >= saveAgain {
		m.saves, m.counted = 0, now
	}
	m.saves++
	return m.saves <= mostSaves
}

// Watcher is a Store that says when a process has saved facts, so that others know
// them as soon as they are.
type Watcher interface {
	// Watch calls saved with the key of facts that some process has saved, and missed
	// where it may have overlooked some or the Store may have lost some. It returns
	// when ctx is done, or at once where no other process can save.
	Watch(ctx context.Context, saved func(Key), missed func())
}

// saved has the facts read that some process has saved, if requests of this one
// asked for them.
func (m *Memory) saved(key Key) {
	for _, known := range []*otter.Cache[Key, *Model]{m.models, m.conversations} {
		if e, ok := known.GetIfPresent(key); ok && e.asked() {
			m.sharing.add(e)
		}
	}
}

// missed has all facts read again, and saved where they are no longer stored.
func (m *Memory) missed() {
	for _, known := range []*otter.Cache[Key, *Model]{m.models, m.conversations} {
		for _, e := range known.All() {
			if e.asked() {
				m.sharing.add(e)
			}
		}
	}
}

// asked reports whether the Store was read, or is: else the first request does.
func (m *Model) asked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.loaded.IsZero()
}
