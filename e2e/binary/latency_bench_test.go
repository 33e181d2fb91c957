package binary

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"laconic/e2e/rig"

	"laconic/proxy/wire"
)

// BenchmarkLatency prints by how much later an answer comes through laconic than straight
// from the upstream, in medians of requests that have their turns: for a history of some
// 5,000 tokens that fits and whose newest message was never seen, and for one of 20,000
// that is folded under 6,000. Each goes by all APIs.
func BenchmarkLatency(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, overheadAnswer, "5000")
	}))
	defer upstream.Close()
	p := rig.Start(b, upstream.URL+"/v1", "")
	for _, endpoint := range []string{"/chat/completions", "/responses", "/messages"} {
		api, _ := wire.For(endpoint)
		for _, size := range []struct{ tokens, calls, budget int }{{5_000, 10, 100_000}, {20_000, 40, 6_000}} {
			chat := agentBody(size.calls, 14*size.tokens/5)
			req, err := api.Decode(sentAs(b, api, chat))
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%d tokens", api.Name(), costOf(b, req, "gpt-4o")), func(b *testing.B) {
				urls := []string{upstream.URL, p.URL}
				took := make([][]float64, len(urls))
				for n := 0; b.Loop(); n++ {
					newest := fmt.Appendf(nil, `,{"role":"user","content":"request %d of %d"}],"model"`, n, size.tokens)
					body := sentAs(b, api, bytes.Replace(chat, []byte(`],"model"`), newest, 1))
					for i := range urls {
						start := time.Now()
						status, _, answer := rig.Post(b, urls[(n+i)%2]+"/v1"+endpoint, body, "X-Laconic-Budget", fmt.Sprint(size.budget))
						if took[(n+i)%2] = append(took[(n+i)%2], float64(time.Since(start).Microseconds())); status != http.StatusOK {
							b.Fatalf("%d %s", status, answer)
						}
					}
				}
				b.ReportMetric(0, "ns/op") // of two
				b.ReportMetric(middle(took[0]), "µs/straight")
				b.ReportMetric(middle(took[1])-middle(took[0]), "µs/added")
			})
		}
	}
}
