package metrics

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"laconic/compact"
	"laconic/proxy"
	"laconic/proxy/wire"
)

// BenchmarkReplied measures what the counts cost a request.
func BenchmarkReplied(b *testing.B) {
	m := New(Options{})
	l := m.Listener()
	i := proxy.ReplyInfo{
		Wire: "chat", Endpoint: "/chat/completions", Outcome: proxy.Compacted, Status: 200, Duration: time.Second, FirstByte: time.Second,
		Usage: &wire.Usage{Prompt: 42, Cached: 30, Completion: 7},
		Rewrite: &proxy.RewriteInfo{Route: "gpt-*", Policy: "adaptive", Overhead: time.Millisecond, Report: compact.Report{
			Before: 100, After: 40, Epochs: 2, Stages: []compact.StageReport{{Name: "summarize", Edits: 2, Saved: 50}, {Name: "squeeze", Edits: 1, Saved: 3}},
		}},
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Rewritten(*i.Rewrite)
		l.Replied(i)
	}
}

// BenchmarkCounted measures what share of a small request that is, without sockets
// and with the cheapest of counters: of a real request it is less. Two proxies, one
// that counts and one that does not, take turns of twenty requests, and so do two
// that do not; the ratios are medians of those of the turns.
func BenchmarkCounted(b *testing.B) {
	upstream := answers(func(*http.Request) *http.Response { return answer(200, answered) })
	_, counting := watched(b, options(upstream))
	not := func() *proxy.Proxy {
		p, err := proxy.New(options(upstream))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(p.Close)
		return p
	}
	proxies := []*proxy.Proxy{not(), counting, not()}
	body := agent("gpt-x", 5, 60)
	turn := func(p *proxy.Proxy) float64 {
		began := time.Now()
		for range 20 {
			ask(p, "POST", "/v1/chat/completions", body)
		}
		return float64(time.Since(began))
	}
	var counted, spread []float64
	for n := 0; b.Loop(); n++ {
		var took [3]float64
		for i := range proxies {
			i = (i + n) % len(proxies)
			took[i] = turn(proxies[i])
		}
		counted, spread = append(counted, took[1]/took[0]), append(spread, took[2]/took[0])
	}
	middle := func(list []float64) float64 {
		slices.Sort(list)
		return list[len(list)/2]
	}
	b.ReportMetric(middle(counted), "counted/not")
	b.ReportMetric(middle(spread), "not/not")
}
