package proxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/stage"
	"laconic/proxy/summarize"
	"laconic/proxy/wire"
	"laconic/store"
	"laconic/store/storetest"
)

// p99 is what 99 of 100 stay below.
func p99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100]
}

// report gives the middle of the times, what 99 of 100 stay below, and how
// often there was no summary.
func report(b *testing.B, all []time.Duration, missed int) {
	b.ReportMetric(float64(p99(all).Microseconds()), "µs-p99")
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(missed), "missed")
}

// BenchmarkSummaryHit is what a request of 400 KB pays for the summary that
// stands in its slot: again in this process, and the first time after a start,
// when its gap has to be named and the store asked.
func BenchmarkSummaryHit(b *testing.B) {
	body := strings.ReplaceAll(history(120), strings.Repeat("x", 1), "xxxx")
	body = strings.ReplaceAll(body, "line of", strings.Repeat("line ", 6)+"of")
	req, err := wire.Chat.Decode([]byte(body))
	if err != nil {
		b.Fatal(err)
	}
	policy := &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Summaries: true}
	counter := compact.BytesPerToken(3.5)
	limits := compact.Limits{Budget: 40_000}
	for _, kind := range []struct {
		name string
		o    func() store.Options
	}{
		{"memory", func() store.Options { return store.Options{} }},
		{"redis", func() store.Options {
			return store.Options{Kind: store.InRedis, URL: storetest.StartRedis(b).URL(), Secret: []byte("a secret of this test")}
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			options := kind.o()
			open := func() *store.Vault {
				v, err := store.Open(options)
				if err != nil {
					b.Fatal(err)
				}
				return v
			}
			base := parseURL(b, "http://127.0.0.1:9/v1")
			model := roundTrip(func(r *http.Request) (*http.Response, error) {
				w := httptest.NewRecorder()
				tells(answered(strings.Repeat(told+"\n", 20), "stop"))(w, r)
				return w.Result(), nil
			})
			process := func(vault *store.Vault) (*Proxy, *summarize.Request) {
				p, err := New(Options{
					Default:    Route{Upstream: base, Policy: policy, Counter: counter, Limits: limits},
					Summarizer: &summarize.Options{Upstream: base, Model: "small", Counter: counter, Store: vault, Mask: true, Wait: time.Minute, Transport: model},
				})
				if err != nil {
					b.Fatal(err)
				}
				return p, &summarize.Request{
					ID: "x", Header: http.Header{"Authorization": {"Bearer k"}}, Upstream: base,
					Policy: policy.Name, Counter: counter, Budget: limits.For(0),
				}
			}
			plan, _ := compact.Compact(req.Conversation, policy, counter, limits.For(0))
			if plan.Slot == nil {
				b.Fatal("no slot")
			}
			vault := open()
			defer vault.Close()
			p, r := process(vault)
			texts, info := p.summaries.Text(b.Context(), r, req.Conversation, &plan)
			if info.Outcome != summarize.Made {
				b.Fatalf("%+v %q", info, texts)
			}
			missed := 0
			hit := func(p *Proxy, r *summarize.Request) time.Duration {
				began := time.Now()
				one := *r // a request is used once
				_, info := p.summaries.Text(b.Context(), &one, req.Conversation, &plan)
				took := time.Since(began)
				if info.Outcome != summarize.Hit {
					missed++ // on a machine that is busy an answer may take longer than it may
				}
				return took
			}
			b.Run("again", func(b *testing.B) {
				var all []time.Duration
				for b.Loop() {
					all = append(all, hit(p, r))
				}
				report(b, all, missed)
			})
			b.Run("first", func(b *testing.B) {
				var all []time.Duration
				for b.Loop() {
					b.StopTimer()
					fresh := vault
					if options.Kind == store.InRedis {
						fresh = open()
						fresh.Get(b.Context(), store.Key{}) // a connection is there
					}
					p, r := process(fresh)
					b.StartTimer()
					all = append(all, hit(p, r))
					b.StopTimer()
					if fresh != vault {
						fresh.Close()
					}
					b.StartTimer()
				}
				report(b, all, missed)
			})
			b.Logf("body of %d bytes", len(body))
		})
	}
}

// BenchmarkBesideSummaries compares the requests of one client while 20
// summaries of others are in the making, with the same without them. The two
// take turns, so that both see the same machine.
func BenchmarkBesideSummaries(b *testing.B) {
	const running, each = 20, 300
	model := newUpstream(b, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		tells(answered(told, "stop"))(w, r)
	})
	u := newUpstream(b, nil)
	r := summarized(b, u, model, func(o *Options) { o.Summarizer.Workers = running })
	measure := func() (all []time.Duration) {
		for range each {
			began := time.Now()
			if res := r.chat(history(10)); res.StatusCode != 200 {
				b.Fatalf("%s", res.body)
			}
			all = append(all, time.Since(began))
		}
		return all
	}
	measure()
	var alone, beside []time.Duration
	n := 0
	for b.Loop() {
		alone = append(alone, measure()...)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
				if r.SummaryCounts().Running < running {
					n++
					r.chat(strings.ReplaceAll(history(long), "line of", fmt.Sprintf("line %d of", n)))
				}
			}
		})
		for r.SummaryCounts().Running < running {
			time.Sleep(time.Millisecond)
		}
		beside = append(beside, measure()...)
		close(stop)
		wg.Wait()
		r.quietly()
	}
	b.ReportMetric(float64(p99(alone).Microseconds()), "µs-p99-alone")
	b.ReportMetric(float64(p99(beside).Microseconds()), "µs-p99-beside")
	b.ReportMetric(float64(p99(beside))/float64(p99(alone)), "×")
}
