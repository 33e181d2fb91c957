//go:build unix

package cluster

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"laconic/e2e/rig"
)

// parallel sends a body so many times, eight at once.
func (c *cluster) parallel(n int, body []byte, headers func(i int) []string) {
	c.t.Helper()
	var all errgroup.Group
	all.SetLimit(8)
	for i := range n {
		all.Go(func() error {
			_, err := c.send(c.URL, body, headers(i)...)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		c.t.Error(err)
	}
}

var calls = regexp.MustCompile(`cmdstat_([a-z|]+):calls=(\d+)`)

// operations returns how many commands the Redis was sent, by their names.
func (c *cluster) operations() (n int, words string) {
	for _, m := range calls.FindAllStringSubmatch(c.tell("INFO commandstats"), -1) {
		switch m[1] {
		case "info", "ping", "config|resetstat", "config|get", "config|set", "client|setinfo", "hello", "select":
			continue // ours, and those of a connection
		}
		k, _ := strconv.Atoi(m[2])
		n += k
		words += " " + m[1] + " " + m[2]
	}
	return n, strings.TrimSpace(words)
}

// settled waits until Redis is asked nothing for longer than replicas pause between two
// rounds of sharing, and returns what operations does.
func (c *cluster) settled() (n int, words string) {
	c.t.Helper()
	last := time.Now()
	rig.Eventually(c.t, "that nobody asks Redis", func() bool {
		if now, are := c.operations(); now != n {
			n, words, last = now, are, time.Now()
		}
		return time.Since(last) > 300*time.Millisecond
	})
	return n, words
}

// TestWhatRedisIsAsked prints how many commands it gets for a request.
func TestWhatRedisIsAsked(t *testing.T) {
	n := 40
	if full(t) {
		n = 400
	}
	c := start(t, setup{replicas: 3, config: "models: [{match: \"*\", budget: 9000}]\nsummarizer: {model: house-summaries, wait: 20s}\n"})
	key := []string{"Authorization", "Bearer sk-redis"}
	small, long := conversation("gpt-4o", 2, 500, false), conversation("gpt-4o", 60, 1500, false)
	measure := func(name string, n int, f func()) (all int, words string) {
		c.tell("CONFIG RESETSTAT")
		f()
		all, words = c.settled()
		t.Logf("%s: %s", name, words)
		note(t, "operations", fmt.Sprintf("| %s | %d | %.2f |\n", name, n, float64(all)/float64(n)))
		return all, words
	}
	for _, r := range c.replicas {
		for _, body := range [][]byte{small, long} {
			if _, err := c.send("http://"+r.addr, body, key...); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.settled() // and what these asked in the background is over
	all, words := measure("of a credential that the process knows, nothing to do", n, func() { c.parallel(n, small, func(int) []string { return key }) })
	if all > 0 {
		t.Errorf("requests that needed nothing asked Redis: %s", words)
	}
	measure("the same, compacted as before", n, func() { c.parallel(n, long, func(int) []string { return key }) })
	measure("the first of a credential", n, func() {
		c.parallel(n, small, func(i int) []string { return []string{"Authorization", "Bearer sk-new-" + strconv.Itoa(i)} })
	})
	grows := recordings(t, 100<<10, 300<<10)[:1]
	measure("a conversation that grows, with summaries", len(requests(grows[0], "gpt-4o", 40)), func() { c.replay(grows, 40) })
}
