package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
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
