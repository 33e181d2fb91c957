package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// realBody is an agent's history of about size bytes: results of 2 KB, and
// longer ones where there would be more than 2,000 messages of them.
func realBody(size int) string {
	rounds := min(size/2200, 1000)
	return agentBody(rounds, (size/rounds-150)/len("word "))
}

// BenchmarkRewrite is a whole request over loopback, through a proxy in a
// process of its own: cpu-µs/op is what that process computes for it. bare is
// a ReverseProxy that reads and sends the same body; fold a body above its
// budget, under a budget of 100,000 tokens where there is one to pass.
func BenchmarkRewrite(b *testing.B) {
	u := newUpstream(b, nil)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, plainAnswer)
	})
	for _, size := range []struct {
		name  string
		bytes int
	}{{"40KB", 40 << 10}, {"400KB", 400 << 10}, {"4MB", 4 << 20}} {
		body := realBody(size.bytes)
		for _, kind := range []struct{ name, budget string }{{"bare", ""}, {"noop", "100000000"}, {"fold", strconv.Itoa(len(body) / 14)}} {
			b.Run(size.name+"/"+kind.name, func(b *testing.B) {
				c := measured(b, kind.name, u.URL+"/v1", 512<<20)
				transport := &http.Transport{MaxIdleConnsPerHost: 4}
				defer transport.CloseIdleConnections()
				send := func() {
					r, _ := http.NewRequest("POST", "http://"+c.addr+"/v1/chat/completions", strings.NewReader(body))
					r.Header.Set("Content-Type", "application/json")
					if kind.budget != "" {
						r.Header.Set("X-Laconic-Budget", kind.budget)
					}
					res, err := transport.RoundTrip(r)
					if err != nil {
						b.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
					if want := map[string]string{"bare": "", "noop": "untouched", "fold": "compacted"}[kind.name]; res.Header.Get("X-Laconic-Outcome") != want {
						b.Fatalf("outcome %q", res.Header.Get("X-Laconic-Outcome"))
					}
				}
				for range 20 {
					send()
				}
				b.SetBytes(int64(len(body)))
				before := c.cpu()
				b.ResetTimer()
				for range b.N {
					send()
				}
				b.StopTimer()
				b.ReportMetric(float64((c.cpu()-before).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}

// BenchmarkStreams opens 1,000 streams and reports what each takes of the
// proxy's memory while all are open.
func BenchmarkStreams(b *testing.B) {
	const streams = 1000
	end := make(chan bool)
	u := newUpstream(b, nil)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-end
	})
	request := strings.Replace(post("Content-Type: application/json\r\n", realBody(40<<10)), "Connection: close\r\n", "", 1)
	for _, kind := range []string{"bare", "laconic"} {
		b.Run(kind, func(b *testing.B) {
			for range b.N {
				c := measured(b, kind, u.URL+"/v1", 512<<20)
				before := c.settled()
				var conns []net.Conn
				for range streams {
					conn, err := net.Dial("tcp", c.addr)
					if err != nil {
						b.Fatal(err)
					}
					_ = conn.SetDeadline(time.Now().Add(time.Minute))
					if _, err := io.WriteString(conn, request); err != nil {
						b.Fatal(err)
					}
					in := bufio.NewReader(conn)
					for line := ""; line != "data: 1\n"; {
						if line, err = in.ReadString('\n'); err != nil {
							b.Fatal(err)
						}
					}
					conns = append(conns, conn)
				}
				b.ReportMetric(float64(c.settled()-before)/streams/1024, "KB/stream")
				for range streams {
					end <- true
				}
				for _, conn := range conns {
					_ = conn.Close()
				}
			}
		})
	}
}
