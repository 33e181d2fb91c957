package store

import (
	"cmp"
	"context"
	"time"

	"github.com/maypok86/otter/v2"
)

// Memory is a store inside the process, bounded by bytes and by time. It ends
// with the process.
type Memory struct {
	values *otter.Cache[Key, []byte]
}

// entryBytes is what an entry takes beside its value.
const entryBytes = 128

// NewMemory makes a store of at most so many bytes; 0: defaultBytes.
func NewMemory(bytes int) *Memory {
	return &Memory{values: otter.Must(&otter.Options[Key, []byte]{
		MaximumWeight:    uint64(cmp.Or(bytes, defaultBytes)),
		Weigher:          func(_ Key, value []byte) uint32 { return uint32(len(value)) + entryBytes },
		ExpiryCalculator: otter.ExpiryWriting[Key, []byte](DefaultTTL),
	})}
}

// Get returns the value of a key.
func (m *Memory) Get(_ context.Context, k Key) ([]byte, error) {
	v, ok := m.values.GetIfPresent(k)
	if !ok {
		return nil, ErrMiss
	}
	return v, nil
}

// Put stores a value.
func (m *Memory) Put(_ context.Context, k Key, value []byte, ttl time.Duration) error {
	if ttl > 0 {
		m.values.Set(k, value)
		m.values.SetExpiresAfter(k, ttl)
	}
	return nil
}

// DeleteGroup removes the values of a group.
func (m *Memory) DeleteGroup(ctx context.Context, g Group) (n int, err error) {
	for k := range m.values.Keys() {
		if k.Group() != g {
			continue
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if _, was := m.values.Invalidate(k); was {
			n++
		}
	}
	return n, nil
}

// Close ends the goroutine that takes out what is over.
func (m *Memory) Close() { m.values.StopAllGoroutines() }
