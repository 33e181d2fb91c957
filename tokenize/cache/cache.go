// Package cache remembers how many tokens texts have. A client of the chat API sends its whole history again each
// turn; with this, what was counted before costs a hash.
//
// It promises:
//
//   - true: a count is returned only for the text that it was made of, and for the same way of counting. Texts are told
//     apart by their length and two hashes of 64 bits. Clients choose the texts, so the seeds are secret and new with each
//     process: nobody can look for two texts that share a count.
//   - bounded: it holds so many counts and no more; the text itself is never kept. An entry takes about 110 bytes.
//   - whole: a text is counted as one, never in pieces, because pieces have other tokens.
//   - shared: one cache serves all requests and all models, from many goroutines at once. What passes from one client
//     to another is how long counting took: whether somebody sent these 100 bytes or more before, to the byte.
package cache

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/maypok86/otter/v2"
)

const (
	// DefaultEntries is how many counts a cache holds by default: some sixty long conversations.
	DefaultEntries = 1 << 17
	// Shortest is the length of the shortest text that is remembered, in bytes. A shorter one is counted in less than
	// a microsecond, which is what looking it up would take.
	Shortest = 100
)

// Cache holds counts. Make one with [New].
type Cache struct {
	seeds  [2]maphash.Seed
	counts *otter.Cache[Sum, int]

	hits, misses atomic.Int64
}

// Sum tells a text from all others: two hashes, and its length.
type Sum struct {
	Hash [2]uint64
	Size int
}

// New returns a cache of at most entries counts; below 1: [DefaultEntries].
func New(entries int) *Cache {
	if entries < 1 {
		entries = DefaultEntries
	}
	return &Cache{
		seeds:  [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		counts: otter.Must(&otter.Options[Sum, int]{MaximumSize: entries}),
	}
}

// Stats returns how many counts were found since the start, and how many were made. Texts below [Shortest] are in
// neither.
func (c *Cache) Stats() (hits, misses int64) { return c.hits.Load(), c.misses.Load() }

// Sum returns the sum of a text, by the seeds of this cache.
func (c *Cache) Sum(text string) Sum {
	return Sum{[2]uint64{maphash.String(c.seeds[0], text), maphash.String(c.seeds[1], text)}, len(text)}
}

// Texts is the part of a cache that belongs to one way of counting. It is safe for concurrent use.
type Texts struct {
	c   *Cache
	way uint64 // a hash of its name
}

// Texts returns the part for a way of counting. The way names everything that the count depends on beside the text: the
// tokenizer, and the form of the text if it has several.
func (c *Cache) Texts(way string) Texts { return Texts{c, maphash.String(c.seeds[0], way)} }

// key returns the key of the count of a text with this sum.
func (t Texts) key(sum Sum) Sum {
	sum.Hash[0] ^= t.way
	return sum
}

// Count returns the count of a text, and reports whether it was remembered. If not, count makes it, from the text
// alone.
func (t Texts) Count(text string, count func(string) int) (n int, seen bool) {
	if len(text) < Shortest {
		return count(text), false
	}
	sum := t.c.Sum(text)
	if n, seen = t.Get(sum); !seen {
		n = count(text)
		t.Set(sum, n)
	}
	return n, seen
}

// Get returns the count of a text with this sum, and reports whether it is remembered.
func (t Texts) Get(sum Sum) (n int, seen bool) {
	n, seen = t.c.counts.GetIfPresent(t.key(sum))
	if seen {
		t.c.hits.Add(1)
	} else {
		t.c.misses.Add(1)
	}
	return n, seen
}

// Set remembers the count of a text with this sum.
func (t Texts) Set(sum Sum, n int) { t.c.counts.Set(t.key(sum), n) }
