package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"laconic/compact/compacttest"
	"laconic/e2e/rig"
)

// A body is let go as soon as the upstream has read it, however long the
// answer takes.
func TestABodyIsNotHeldWhileItsAnswerStreams(t *testing.T) {
	const streams, size = 20, 2 << 20
	end := make(chan bool)
	u := newUpstream(t, nil)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		piece(w, "data: 1\n\n")
		<-end
	})
	for name, budget := range map[string]int{"untouched": 10_000_000, "over": 10_000} {
		t.Run(name, func(t *testing.T) {
			p := inFrontOf(t, u, func(o *Options) { o.Default.Counter, o.Default.Limits.Budget = compacttest.Bytes{}, budget })
			before := heap()
			// A client of net/http would hold the body itself.
			var open []*bufio.Reader
			for i := range streams {
				conn := dial(t, p.addr)
				if _, err := io.WriteString(conn, post("", agentBody(2, size/10))); err != nil {
					t.Fatal(err)
				}
				in := bufio.NewReader(conn)
				head := until(t, in, "data: 1\n")
				if i == 0 && !strings.Contains(head, "X-Laconic-Outcome: "+name) {
					t.Errorf("%s", head)
				}
				open = append(open, in)
			}
			// The transport lets go of a body after its last byte was read, and the
			// answer may be faster.
			rig.Eventually(t, "the memory of all bodies to be free", func() bool { return p.memory.Stats().Bytes == 0 })
			if grown := int64(heap()) - int64(before); grown > streams*256<<10 {
				t.Errorf("%d KB for each open stream", grown/streams>>10)
			} else {
				t.Logf("%d KB for each open stream, both of its ends, the client and the upstream included", grown/streams>>10)
			}
			for range streams {
				end <- true
			}
			for _, in := range open {
				_, _ = io.Copy(io.Discard, in)
			}
		})
	}
}

// Clients that name long bodies and send one byte of them take next to nothing:
// others are served meanwhile.
func TestALengthAloneTakesNoMemory(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil))
	const sockets = 128 // of 64 MiB each
	for range sockets {
		conn := dial(t, p.addr)
		if _, err := fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n{", p.addr, 64<<20); err != nil {
			t.Fatal(err)
		}
	}
	rig.Eventually(t, "their bodies are read", func() bool {
		return p.memory.Stats().Arriving == sockets
	})
	if n := p.memory.Stats().Bytes; n > sockets*16<<10 {
		t.Errorf("they hold %d bytes", n)
	}
	p.do("POST", "/v1/chat/completions", strings.NewReader(chatBody)).want(t, 200)
}
