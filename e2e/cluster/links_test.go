//go:build unix

package cluster

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
)

// fault is what happens on a link.
type fault struct {
	name  string
	toxic string // of toxiproxy; "": nobody listens, and what was open is closed
	// harmless: nothing fails by it; fatal: something has to.
	harmless, fatal bool
	only            bool // in the full run alone
}

// faults are those of a link, the harmless ones first: nothing that failed while
// they were there is an aftermath.
var faults = []fault{
	{name: "slow", toxic: `{"name":"x","type":"latency","attributes":{"latency":800,"jitter":300}}`, harmless: true},
	{name: "sliced", toxic: `{"name":"x","type":"slicer","attributes":{"average_size":64,"size_variation":32,"delay":100}}`, harmless: true, only: true},
	{name: "requests sliced", toxic: `{"name":"x","type":"slicer","stream":"upstream","attributes":{"average_size":64,"size_variation":32,"delay":100}}`, harmless: true, only: true},
	{name: "dead", fatal: true, only: true},
	{name: "resets", toxic: `{"name":"x","type":"reset_peer","attributes":{"timeout":30}}`, fatal: true},
	{name: "requests reset", toxic: `{"name":"x","type":"reset_peer","stream":"upstream","attributes":{"timeout":0}}`, fatal: true, only: true},
	{name: "cut in the middle", toxic: `{"name":"x","type":"limit_data","attributes":{"bytes":900}}`, fatal: true},
	{name: "half-open", toxic: `{"name":"x","type":"timeout","attributes":{"timeout":0}}`},
	{name: "requests lost", toxic: `{"name":"x","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`, only: true},
}

// suffer has all faults happen on a link, each for so long, and returns when each
// began; the last time is when the last ended.
func (c *cluster) suffer(p *toxiproxy.Proxy, list []fault, length time.Duration) (began []time.Time) {
	c.t.Helper()
	for _, f := range list {
		began = append(began, time.Now())
		if f.toxic == "" {
			p.Stop()
		} else {
			c.poison(p, f.toxic)
		}
		time.Sleep(length)
		if f.toxic != "" {
			p.Toxics.ResetToxics(c.t.Context())
		} else if err := p.Start(); err != nil {
			c.t.Error(err)
		}
	}
	return append(began, time.Now())
}

// suffered returns the faults that a run has.
func suffered(whole bool) []fault {
	return slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return f.only && !whole })
}

// judge tells what became of results while faults happened, which began at these
// times: none that was cut looks complete, harmless faults fail none, and fatal
// ones some. It returns how many were cut or answered with an error.
func judge(t *testing.T, link string, all []result, list []fault, began []time.Time) (broken int) {
	t.Helper()
	failed, first := make([]int, len(list)+1), make([]string, len(list)+1)
	for _, r := range all {
		if r.err == nil && r.status == 200 && !r.whole {
			t.Errorf("%s: an answer that was cut looks complete: %+v", link, r)
		}
		if !r.failed() {
			continue
		}
		broken++
		end := r.at.Add(r.took)
		i := len(began) - 1
		for i > 0 && end.Before(began[i]) {
			i--
		}
		if failed[i]++; failed[i] == 1 {
			_, first[i] = failures([]result{r})
		}
	}
	for i, f := range list {
		t.Logf("%s, %s: %d failed: %s", link, f.name, failed[i], first[i])
		if f.harmless && failed[i] > 0 {
			t.Errorf("%s, %s: %d failed: %s", link, f.name, failed[i], first[i])
		}
		if f.fatal && failed[i] == 0 {
			t.Errorf("%s, %s: that is too little to show anything", link, f.name)
		}
	}
	return broken
}

// left returns how many goroutines each replica has.
func (c *cluster) left() (goroutines []int) {
	c.t.Helper()
	for _, r := range c.replicas {
		goroutines = append(goroutines, number(c.t, `(\d+) goroutines`, r.says("/readyz?verbose")))
	}
	return goroutines
}

// settled ends the clients, the balancer and all connections to the upstream, and
// waits until nothing is left of what was on them: at the upstream no request, and in
// the replicas no request, no memory of bodies, and no goroutine that was not there
// before.
func (c *cluster) settled(before []int) {
	c.t.Helper()
	over := time.Now()
	client.CloseIdleConnections()
	c.stopBalancer()
	eventually(c.t, "no request is left at the upstream", func() bool { return c.upstream.serving.Load() == 0 })
	c.upstream.server.SetKeepAlivesEnabled(false) // and closes those that are idle
	end := time.Now().Add(patience)
	for i, r := range c.replicas {
		requests, bodies, goroutines := 0, 0, 0
		for ; ; time.Sleep(20 * time.Millisecond) {
			pages := r.says("/readyz?verbose") + "\n" + r.says("/metrics")
			requests, goroutines = number(c.t, `process: (\d+) requests`, pages), number(c.t, `(\d+) goroutines`, pages)
			if bodies = number(c.t, `\nlaconic_body_memory_bytes (\S+)`, pages); requests == 0 && bodies == 0 && goroutines <= before[i]+2 {
				break
			}
			if time.Now().After(end) {
				c.t.Errorf("left in replica %s: %d requests, %d bytes of bodies, %d goroutines of %d before", r.name, requests, bodies, goroutines, before[i])
				break
			}
		}
	}
	c.t.Logf("nothing was left after %v", time.Since(over))
}

// number returns the number that a pattern finds.
func number(t testing.TB, pattern, text string) int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in %.300s", pattern, text)
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(f)
}
