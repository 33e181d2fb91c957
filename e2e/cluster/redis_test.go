//go:build unix

package cluster

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// parallel sends a body so many times, eight at once.
func (c *cluster) parallel(n int, body []byte, headers func(i int) []string) {
	c.t.Helper()
	var workers sync.WaitGroup
	next := make(chan int)
	for range min(8, n) {
		workers.Go(func() {
			for i := range next {
				if _, err := c.send(c.URL, body, headers(i)...); err != nil {
					c.t.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
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

// TestWhatRedisIsAsked prints how many commands it gets for a request.
func TestWhatRedisIsAsked(t *testing.T) {
	n := 40
	if full(t) {
		n = 400
	}
	c := start(t, setup{replicas: 3, config: "models: [{match: \"*\", budget: 9000}]\nsummarizer: {model: house-summaries, wait: 20s}\n"})
	key := []string{"Authorization", "Bearer sk-redis"}
	small, long := conversation("gpt-4o", 2, 500, false), conversation("gpt-4o", 60, 1500, false)
	measure := func(name string, n int, f func()) {
		c.tell("CONFIG RESETSTAT")
		f()
		time.Sleep(300 * time.Millisecond) // what runs in the background
		all, words := c.operations()
		t.Logf("%s: %s", name, words)
		note(t, "operations", fmt.Sprintf("| %s | %d | %.2f |\n", name, n, float64(all)/float64(n)))
	}
	for _, r := range c.replicas {
		for _, body := range [][]byte{small, long} {
			if _, err := c.send("http://"+r.addr, body, key...); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(300 * time.Millisecond) // what these asked in the background
	measure("of a credential that the process knows, nothing to do", n, func() { c.parallel(n, small, func(int) []string { return key }) })
	if all, words := c.operations(); all > 0 {
		t.Errorf("requests that needed nothing asked Redis: %s", words)
	}
	measure("the same, compacted as before", n, func() { c.parallel(n, long, func(int) []string { return key }) })
	measure("the first of a credential", n, func() {
		c.parallel(n, small, func(i int) []string { return []string{"Authorization", "Bearer sk-new-" + strconv.Itoa(i)} })
	})
	grows := recordings(t, 100<<10, 300<<10)[:1]
	measure("a conversation that grows, with summaries", len(requests(grows[0], "gpt-4o", 40)), func() { c.replay(grows, 40) })
}
