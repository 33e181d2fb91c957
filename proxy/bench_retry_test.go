package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkFirstEvent is the time from the upstream's first event to the
// client's reading of it: through a bare ReverseProxy, and through the proxy,
// which looks at the event before it hands the headers on.
func BenchmarkFirstEvent(b *testing.B) {
	u := newUpstream(b, nil)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(2 * time.Millisecond) // as if it thought
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"at\":%d,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: [DONE]\n\n", time.Now().UnixNano())
	})
	body := realBody(40 << 10)
	for _, kind := range []string{"bare", "laconic"} {
		b.Run(kind, func(b *testing.B) {
			c := measured(b, kind, u.URL+"/v1", 512<<20)
			transport := &http.Transport{MaxIdleConnsPerHost: 4}
			defer transport.CloseIdleConnections()
			var took []time.Duration
			for range b.N {
				r, _ := http.NewRequest("POST", "http://"+c.addr+"/v1/chat/completions", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				res, err := transport.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				line, err := bufio.NewReader(res.Body).ReadString('\n')
				now := time.Now().UnixNano()
				if err != nil {
					b.Fatal(err)
				}
				_, after, _ := strings.Cut(line, `"at":`)
				at, _, _ := strings.Cut(after, ",")
				sent, err := strconv.ParseInt(at, 10, 64)
				if err != nil {
					b.Fatalf("%q", line)
				}
				took = append(took, time.Duration(now-sent))
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
