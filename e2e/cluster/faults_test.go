//go:build unix

package cluster

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"laconic/e2e/rig"
)

// TestARollingRestartFailsNothing: each replica is told to end and started anew,
// under 200 requests a second and 200 open streams, behind a balancer that tries
// nothing twice.
func TestARollingRestartFailsNothing(t *testing.T) {
	whole := full(t)
	c := start(t, setup{replicas: 3, drain: "1s"})
	l := &load{c: c, rate: 200, streams: 200, events: "30 100ms"}
	l.begin()
	for i, r := range c.replicas {
		if i > 0 && !whole {
			break // one of them tells as much, in a third of the time
		}
		ended := time.Now()
		r.stop()
		t.Logf("replica %s ended after %v", r.name, time.Since(ended))
		r.start()
		c.balances()
	}
	requests, streams := l.end()
	n, first := failures(requests)
	broken, firstStream := failures(streams)
	note(t, "faults", fmt.Sprintf("| rolling restart of all three | %d | %d | %d of %d |\n", len(requests), n, broken, len(streams)))
	if n > 0 || broken > 0 {
		t.Errorf("%d of %d requests failed (%s), %d of %d streams (%s)", n, len(requests), first, broken, len(streams), firstStream)
	}
	by := map[string]int{}
	for _, r := range requests {
		by[r.replica]++
	}
	if len(by) != 3 {
		t.Errorf("requests by replica: %v", by)
	}
	for _, what := range c.upstream.complaints() {
		t.Error(what)
	}
}

// TestARedisInWhateverStateFailsNothing: the same load beside a Redis that is well
// and beside one that is not. Every fifth request comes with a credential that
// nobody knows, for which the store is asked.
func TestARedisInWhateverStateFailsNothing(t *testing.T) {
	length := 1500 * time.Millisecond
	whole := full(t)
	if whole {
		length = 6 * time.Second
	}
	c := start(t, setup{replicas: 3, config: `
models: [{match: "small-*", window: 100000}, {match: "*", budget: 9000}]
summarizer: {model: house-summaries, wait: 0s}
`})
	l := &load{c: c, rate: 150, streams: 20, events: "10 100ms", keys: true}
	l.begin()
	warm := 0 // the first requests make connections
	rig.Eventually(t, "a second of requests", func() bool { warm += len(l.since()); return warm >= l.rate })
	l.settle()
	time.Sleep(length) // of what is measured, as below
	base := l.since()
	baseline := took(base, 95)
	note(t, "redis", fmt.Sprintf("| well | %d | 0 | – | %s |\n", len(base), slowest(base)))
	long := conversation("small-redis", 30, 1500, false)
	var taughtIn []string // the models of which something was learnt
	for _, state := range []struct {
		name       string
		begin, end func()
		only       bool // in the full run alone
	}{
		{"stalled (SIGSTOP)", c.redis.Stall, c.redis.Continue, false},
		{"slow (300 ms an answer)", func() {
			if _, err := c.toRedis.Toxics.AddToxicJson(strings.NewReader(`{"name":"slow","type":"latency","stream":"downstream","attributes":{"latency":300}}`)); err != nil {
				t.Fatal(err)
			}
		}, func() { c.toRedis.Toxics.ResetToxics(t.Context()) }, true},
		{"full", func() { c.tell("CONFIG SET maxmemory 1") }, func() { c.tell("CONFIG SET maxmemory 0") }, true},
		{"read-only", func() { c.tell("REPLICAOF 127.0.0.1 1"); c.tell("CONFIG SET replica-serve-stale-data yes") }, func() { c.tell("REPLICAOF NO ONE") }, true},
		{"cut off", func() { c.toRedis.Stop() }, func() {
			if err := c.toRedis.Start(); err != nil {
				t.Error(err)
			}
		}, true},
		{"killed", c.redis.Stop, func() { c.redis.Start(t) }, false},
	} {
		if state.only && !whole {
			continue
		}
		l.settle()
		state.begin()
		began := time.Now()
		model := "small-" + strings.Fields(state.name)[0]
		taught, err := c.send("http://"+c.replicas[0].addr, []byte(strings.Replace(string(long), "small-redis", model, 1)), "Authorization", "Bearer sk-1")
		if err != nil || taught.outcome != "retried" {
			t.Errorf("%s: a request that has to be learnt from: %+v %v", state.name, taught.outcome, err)
		}
		time.Sleep(max(0, length-time.Since(began)))
		some := l.since()
		state.end()
		n, first := failures(some)
		more := took(some, 95) - baseline
		note(t, "redis", fmt.Sprintf("| %s | %d | %d | %s | %s |\n", state.name, len(some), n, upTo(more, 10*time.Millisecond, 25*time.Millisecond, 100*time.Millisecond), slowest(some)))
		t.Logf("%s: medians %v and %v, 95th %v and %v, slowest %v and %v", state.name, took(base, 50), took(some, 50), baseline, took(some, 95), took(base, 100), took(some, 100))
		if n > 0 {
			t.Errorf("%s: %d of %d requests failed: %s", state.name, n, len(some), first)
		}
		if more > 100*time.Millisecond {
			t.Errorf("%s: of the requests one in twenty took %v more than with a Redis that is well", state.name, more)
		}
		// What was learnt meanwhile is known to the others once it is back, though
		// nobody asks the replica that learnt it.
		knows(t, c, c.replicas[1], model)
		knows(t, c, c.replicas[2], model)
		taughtIn = append(taughtIn, model)
		if n := c.upstream.refusals(model); n != 1 {
			t.Errorf("%s: refused %d times", state.name, n)
		}
	}
	_, streams := l.end()
	if n, first := failures(streams); n > 0 {
		t.Errorf("%d of %d streams failed: %s", n, len(streams), first)
	}
	// The Redis that was killed came back empty. It has all again, also what was
	// learnt before: a replica that begins now finds it there.
	c.replicas[2].stop()
	c.replicas[2].start()
	for _, model := range taughtIn {
		knows(t, c, c.replicas[2], model)
		if n := c.upstream.refusals(model); n != 1 {
			t.Errorf("%s: refused %d times", model, n)
		}
	}
}

// knows asks a replica once for a model, and waits until its window is known there.
func knows(t *testing.T, c *cluster, r *replica, model string) {
	t.Helper()
	if _, err := c.send("http://"+r.addr, conversation(model, 1, 30, false), "Authorization", "Bearer sk-1"); err != nil {
		t.Fatalf("%s: %v", model, err)
	}
	rig.Eventually(t, "what was learnt of "+model+" at replica "+r.name, func() bool { return r.knows(`"` + model + `"[^\n]*window 6000`) })
}

// knows reports whether the page of what the replica has learnt has a pattern.
func (r *replica) knows(pattern string) bool {
	_, text := rig.Get(r.Admin + "/readyz?verbose")
	return regexp.MustCompile(pattern).MatchString(text)
}

// slowest says how long the slowest of some requests took.
func slowest(all []result) string { return fmt.Sprintf("%d ms", took(all, 100).Milliseconds()) }
