package counting

import (
	"hash/maphash"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"

	"laconic/compact"
)

const (
	// mostCounts is how many counts are remembered: some sixty long conversations.
	mostCounts = 1 << 17
	// shortest is the length of the shortest text that is remembered, in bytes. A shorter one is counted in less than
	// a microsecond, which is what looking it up would take.
	shortest = 100
)

// cache remembers how many tokens texts have. It promises:
//
//   - true: a count is returned only for the text that it was made of, and for the same way of counting. Texts are told
//     apart by their length and two hashes of 64 bits. Clients choose the texts, so the seeds are secret and new with each
//     process: nobody can look for two texts that share a count.
//   - bounded: it holds so many counts and no more; the text itself is never kept. An entry takes about 110 bytes.
//   - whole: a text is counted as one, never in pieces, because pieces have other tokens.
//   - shared: one cache serves all requests and all models, from many goroutines at once. What passes from one client
//     to another is how long counting took: whether somebody sent these 100 bytes or more before, to the byte.
type cache struct {
	seeds  [2]maphash.Seed
	counts *otter.Cache[compact.Sum, int]
}

// newCache returns a cache of at most entries counts.
func newCache(entries int) *cache {
	return &cache{
		seeds:  [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		counts: otter.Must(&otter.Options[compact.Sum, int]{MaximumSize: entries, StatsRecorder: stats.NewCounter()}),
	}
}

// sum returns the sum of a text, by the seeds of this cache.
func (c *cache) sum(text string) compact.Sum {
	return compact.Sum{Hash: [2]uint64{maphash.String(c.seeds[0], text), maphash.String(c.seeds[1], text)}, Size: len(text)}
}

// textCache is the part of a cache that belongs to one way of counting. It is safe for concurrent use.
type textCache struct {
	c   *cache
	way uint64 // a hash of its name
}

// texts returns the part for a way of counting. The way names everything that the count depends on beside the text: the
// tokenizer, and the form of the text if it has several.
func (c *cache) texts(way string) textCache { return textCache{c, maphash.String(c.seeds[0], way)} }

// count returns the count of a text, and reports whether it was remembered. If not, counted makes it, from the text
// alone.
func (t textCache) count(text string, counted func(string) int) (n int, seen bool) {
	if len(text) < shortest {
		return counted(text), false
	}
	return t.cost(t.c.sum(text), func() int { return counted(text) })
}

// cost returns the count of a text with this sum, and reports whether it was remembered. If not, counted makes it.
func (t textCache) cost(sum compact.Sum, counted func() int) (n int, seen bool) {
	sum.Hash[0] ^= t.way
	if n, seen = t.c.counts.GetIfPresent(sum); !seen {
		n = counted()
		t.c.counts.Set(sum, n)
	}
	return n, seen
}
