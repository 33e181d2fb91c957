package counting

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"laconic/compact"
)

// words is a way to count that says how often it was asked.
type words struct {
	mu    sync.Mutex
	asked int
}

func (w *words) count(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	return len(strings.Fields(text))
}

func long(text string) string { return strings.Repeat(text+" ", shortest/len(text)+1) }

func TestWaysOfCountingAreKeptApart(t *testing.T) {
	c := newCache(mostCounts)
	text := long("x")
	f := func(way string, want int, known bool) {
		t.Helper()
		if got, seen := c.texts(way).count(text, func(string) int { return want }); got != want || seen != known {
			t.Errorf("%s: %d, %v, want %d, %v", way, got, seen, want, known)
		}
	}
	f("a", 1, false)
	f("b", 2, false)
	f("a/json", 3, false)
	f("b", 2, true)
	f("a", 1, true)
	if got, seen := c.texts("a").count(text, func(string) int { return -1 }); got != 1 || !seen {
		t.Errorf("the way a has %d, %v", got, seen)
	}
}

func TestShortTextIsNotWorthAnEntry(t *testing.T) {
	c, w := newCache(mostCounts), &words{}
	texts := c.texts("words")
	for _, text := range []string{"", "a", strings.Repeat("a", shortest-1)} {
		for range 2 {
			if _, seen := texts.count(text, w.count); seen {
				t.Errorf("%q was remembered", text)
			}
		}
	}
	texts.count(strings.Repeat("b", shortest), w.count)
	if _, seen := texts.count(strings.Repeat("b", shortest), w.count); !seen {
		t.Error("a text that is long enough was forgotten")
	}
	if w.asked != 7 || c.counts.EstimatedSize() != 1 {
		t.Errorf("counted %d times, %d entries", w.asked, c.counts.EstimatedSize())
	}
}

func TestCacheIsBounded(t *testing.T) {
	const most = 500
	c, w := newCache(most), &words{}
	texts := c.texts("words")
	for i := range 20 * most {
		texts.count(long(fmt.Sprint("text number ", i)), w.count)
	}
	c.counts.CleanUp()
	if n := c.counts.EstimatedSize(); n > most {
		t.Errorf("%d entries, at most %d were allowed", n, most)
	}
}

// No text is known for which one half of the hash, or the length, would not be enough. So this looks at the key itself.
func TestKeyHoldsTwoHashesTheLengthAndTheWay(t *testing.T) {
	c := newCache(mostCounts)
	a, b := c.texts("a"), c.texts("b")
	k := c.sum("text")
	if k.Size != 4 || k.Hash[0] == k.Hash[1] {
		t.Errorf("%+v", k)
	}
	for _, other := range []compact.Sum{c.sum("test"), newCache(mostCounts).sum("text")} {
		if k.Hash[0] == other.Hash[0] || k.Hash[1] == other.Hash[1] {
			t.Errorf("%+v shares a hash with %+v", other, k)
		}
	}
	if a.way == b.way {
		t.Errorf("two ways have the number %d", a.way)
	}
}

func TestCacheIsSharedSafely(t *testing.T) {
	c := newCache(64)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			texts := c.texts(fmt.Sprint("way ", g%3))
			for i := range 1_000 {
				text := long(fmt.Sprint(i % 100))
				if got, _ := texts.count(text, func(s string) int { return len(s) + g%3 }); got != len(text)+g%3 {
					t.Errorf("got %d, want %d", got, len(text)+g%3)
				}
			}
		})
	}
	wg.Wait()
}
