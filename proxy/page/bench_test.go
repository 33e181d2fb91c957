package page

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/stage"
	"laconic/counting"
	"laconic/proxy"
)

// answers is an upstream that answers at once.
type answers struct{}

func (answers) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	const text = `{"choices":[{"message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(text)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)),
	}, nil
}

// agentBody is a request of an agent that read a file in each round.
func agentBody(rounds int) string {
	msgs := []string{`{"role":"user","content":"mend the test"}`}
	for n := range rounds {
		msgs = append(msgs, fmt.Sprintf(`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d.go\"}"}}]}`, n, n),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, n, strings.Repeat(fmt.Sprintf("line %d of a file\n", n), 90)))
	}
	return `{"model":"gpt-4o","messages":[` + strings.Join(msgs, ",") + `]}`
}

// BenchmarkOverhead is what a request takes without the page, and what the page adds,
// between a client and an upstream that cost nothing: medians of requests with and
// without in turn, since a machine is never as fast for long. What that is beside a
// real upstream, BenchmarkListeners of e2e shows.
func BenchmarkOverhead(b *testing.B) {
	count, err := counting.For("gpt-4o", "")
	if err != nil {
		b.Fatal(err)
	}
	upstream, _ := url.Parse("http://upstream.example/v1")
	for _, rounds := range []int{4, 90} {
		b.Run(fmt.Sprintf("%d messages", 2*rounds+1), func(b *testing.B) {
			body := agentBody(rounds)
			var proxies [2]*proxy.Proxy
			for k, l := range []proxy.Listener{{}, New(Options{}).Listener()} {
				p, err := proxy.New(proxy.Options{
					Default:   proxy.Route{Upstream: upstream, Policy: &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Land: 0.4}, Counter: count, Limits: compact.Limits{Budget: 16_000}, Configured: true},
					Transport: answers{}, Listener: proxy.Tee(l), ResponseHeaders: true,
				})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				proxies[k] = p
			}
			var took [2][]time.Duration
			serve := func(k int) {
				r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
				r.Host = "127.0.0.1"
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer sk-something")
				w := httptest.NewRecorder()
				start := time.Now()
				proxies[k].ServeHTTP(w, r)
				if took[k] = append(took[k], time.Since(start)); w.Code != 200 {
					b.Fatal(w.Body)
				}
			}
			for n := 0; b.Loop(); n++ {
				serve(n % 2)
				serve(1 - n%2)
			}
			without, with := median(took[0]), median(took[1])
			b.ReportMetric(0, "ns/op") // of two
			b.ReportMetric(without, "µs/without")
			b.ReportMetric(with-without, "µs/added")
		})
	}
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1000
}
