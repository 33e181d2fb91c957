package learn

import (
	"context"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
)

// Store keeps facts beyond this process. It may be slow or absent: a request waits
// for it, for no longer than storeWait, when its key is new here. Otherwise it is
// read and written in the background: at every change, every storeFresh, and until
// it has taken what changed. Both methods end with their context. Safe for
// concurrent use.
type Store interface {
	// Load returns what is kept, the zero Facts for nothing, and reports whether the
	// Store answered.
	Load(ctx context.Context, key Key) (Facts, bool)
	// Save reports whether others will find f.
	Save(ctx context.Context, key Key, f Facts) bool
	// Watch calls saved with the key of facts that some process has saved, and missed
	// where it may have overlooked some or the Store may have lost some. It returns
	// when ctx is done, or at once where no other process can save.
	Watch(ctx context.Context, saved func(Key), missed func())
}

const (
	// storeWait is how long a request may wait for a Store.
	storeWait = 100 * time.Millisecond
	// storeFresh is how old what other processes have learnt may be, where nobody
	// says that they have.
	storeFresh = time.Minute
	// saveAgain is after how long facts are saved that could not be, and lastShares
	// how long the facts that are due at the end are saved.
	saveAgain  = time.Second
	lastShares = time.Second
	// sharePause is between two rounds of sharing. Each process answers what others
	// save: two could go on for ever.
	sharePause = saveAgain / 4
)

// sharing holds the models whose known and stored facts may differ.
type sharing struct {
	wake chan bool // holds one
	mu   sync.Mutex
	due  map[*Model]bool
}

// add has the facts of a model read and saved. As many may be due as are remembered.
func (s *sharing) add(m *Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.due) < mostModels+mostConversations {
		s.due[m] = true
	}
	select {
	case s.wake <- true:
	default:
	}
}

// share makes the known and the stored facts the same until ctx is done, and then
// once more those that are left. What the Store did not read or take waits for
// saveAgain.
func (m *Memory) share(ctx context.Context) {
	for ctx.Err() == nil {
		pause := time.Duration(0)
		select {
		case <-ctx.Done():
		case <-m.sharing.wake:
			if pause = sharePause; !m.shareDue(context.WithoutCancel(ctx)) {
				pause = saveAgain
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), lastShares)
	defer stop()
	m.shareDue(last)
}

// shareDue shares the facts of all models that are due, and reports whether the Store
// has all. What it does not take stays due. A Store that is away says so at once, but
// now and then.
func (m *Memory) shareDue(ctx context.Context) (all bool) {
	m.sharing.mu.Lock()
	due := m.sharing.due
	m.sharing.due = map[*Model]bool{}
	m.sharing.mu.Unlock()
	all = true
	for e := range due {
		if !e.share(ctx) {
			all = false
			m.sharing.add(e)
		}
	}
	return all
}

// share merges what other processes have learnt, and saves the result where the
// Store lacks some of it. It reports whether the Store has all.
func (m *Model) share(ctx context.Context) (all bool) {
	defer m.memory.recovered()
	ctx, stop := context.WithTimeout(ctx, 2*storeWait)
	defer stop()
	known, stored, ok := m.load(ctx)
	return ok && (known.Equal(stored) || m.memory.o.Store.Save(ctx, m.key, known))
}

// saved has the facts read that some process has saved, if the Store was read for
// them here: else the first request reads it.
func (m *Memory) saved(key Key) {
	for _, known := range []*otter.Cache[Key, *Model]{m.models, m.conversations} {
		if e, ok := known.GetIfPresent(key); ok {
			e.mu.Lock()
			read := !e.loaded.IsZero()
			e.mu.Unlock()
			if read {
				m.sharing.add(e)
			}
		}
	}
}

// missed has all facts read again, and saved where they are no longer stored.
func (m *Memory) missed() {
	for _, known := range []*otter.Cache[Key, *Model]{m.models, m.conversations} {
		for key := range known.All() {
			m.saved(key)
		}
	}
}
