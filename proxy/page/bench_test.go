package page

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	"laconic/cli/counting"
	"laconic/compact"
	"laconic/compact/stage"
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

// spent is the processor time of this process, in seconds.
func spent() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
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

// BenchmarkOverhead is what a request costs the proxy, in processor time, with the
// page and without, in turns; and the median of what the page adds.
func BenchmarkOverhead(b *testing.B) {
	count, err := counting.For("gpt-4o", "")
	if err != nil {
		b.Fatal(err)
	}
	upstream, _ := url.Parse("http://upstream.example/v1")
	made := func(l proxy.Listener) *proxy.Proxy {
		p, err := proxy.New(proxy.Options{
			Default:   proxy.Route{Upstream: upstream, Policy: &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Land: 0.4}, Counter: count, Limits: compact.Limits{Budget: 16_000}, Configured: true},
			Transport: answers{}, Listener: l, ResponseHeaders: true,
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(p.Close)
		return p
	}
	for _, rounds := range []int{4, 90} {
		b.Run(fmt.Sprintf("%d messages", 2*rounds+1), func(b *testing.B) {
			body := agentBody(rounds)
			plain, with := made(proxy.Tee(proxy.Listener{})), made(proxy.Tee(proxy.Listener{}, New(Options{}).Listener()))
			const batch = 200
			run := func(p *proxy.Proxy) float64 {
				before := spent()
				for range batch {
					r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
					r.Host = "127.0.0.1"
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("Authorization", "Bearer sk-something")
					w := httptest.NewRecorder()
					p.ServeHTTP(w, r)
					if w.Code != 200 {
						b.Fatal(w.Body)
					}
				}
				return (spent() - before) / batch * 1e6
			}
			run(plain)
			run(with)
			var off, on, added []float64
			for b.Loop() {
				x, y := run(plain), run(with)
				off, on, added = append(off, x), append(on, y), append(added, (y-x)/x*100)
			}
			median := func(all []float64) float64 { slices.Sort(all); return all[len(all)/2] }
			b.ReportMetric(median(off), "µs-without")
			b.ReportMetric(median(on), "µs-with")
			b.ReportMetric(median(added), "%-added")
			b.ReportMetric(0, "ns/op")
		})
	}
}
