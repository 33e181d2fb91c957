package binary

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"laconic/e2e/rig"

	"github.com/klauspost/compress/zstd"
)

// atOnce is the longest that an honest small request may take beside hostile
// ones: far below the 15 s after which a request that waits is sent away, and far
// above what a busy machine needs.
const atOnce = 2 * time.Second

// besieged is a proxy of the defaults, in front of an upstream that takes all
// there is of a request and answers.
type besieged struct {
	*rig.Laconic
	t         *testing.T
	url, addr string // http://host:port, and host:port
}

func besiege(t *testing.T, answer http.HandlerFunc, config string, args ...string) *besieged {
	t.Helper()
	if os.Getenv("LACONIC_HOSTILE") == "" {
		t.Skip("it opens hundreds of sockets and takes seconds: make hostile runs it")
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, r)
	}))
	t.Cleanup(up.Close)
	p := rig.Start(t, up.URL+"/v1", config, args...)
	b := &besieged{p, t, p.URL, strings.TrimPrefix(p.URL, "http://")}
	b.send([]byte(smallChat), "") // the first waits for the tables of its tokenizer
	return b
}

// everyMessage of a body of 4 MB is different.
const everyMessage = 1024

const smallChat = `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`

func shortAnswer(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
}

// send posts a chat body and returns the status, 0 where there is none.
func (b *besieged) send(body []byte, encoding string) int {
	var headers []string
	if encoding != "" {
		headers = []string{"Content-Encoding", encoding}
	}
	status, _, _, err := rig.Ask(http.MethodPost, b.url+"/v1/chat/completions", bytes.NewReader(body), headers...)
	if err != nil {
		b.t.Error(err)
	}
	return status
}

// small sends n honest requests one after the other, and wants each answered at
// once. It returns the longest time that one took.
func (b *besieged) small(n int) (longest time.Duration) {
	for range n {
		began := time.Now()
		status := b.send([]byte(smallChat), "")
		took := time.Since(began)
		longest = max(longest, took)
		if status != 200 || took > atOnce {
			b.t.Errorf("an honest request: %d after %v", status, took)
		}
	}
	return longest
}

// promise opens sockets that declare 64 MiB and send the first bytes of it.
func (b *besieged) promise(sockets int, first []byte) {
	b.t.Helper()
	var wg sync.WaitGroup
	for range sockets {
		conn, err := net.Dial("tcp", b.addr)
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { _ = conn.Close() })
		wg.Go(func() {
			_ = conn.SetWriteDeadline(time.Now().Add(500 * time.Millisecond)) // the proxy need not take all of it
			_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", b.addr, 64<<20, first)
		})
	}
	wg.Wait()
}

// longChat is a conversation of about n bytes in messages of 4 KB, which gzip
// makes half as long. They repeat after different ones, so that counting the
// tokens of very long ones takes little time.
func longChat(n, different int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	messages := make([]string, different)
	for i := range messages {
		for range 400 {
			messages[i] += fmt.Sprintf("%x word ", r.Uint32())
		}
	}
	var b bytes.Buffer
	b.WriteString(`{"model":"gpt-4o","messages":[{"role":"user","content":"begin"}`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"%s"},{"role":"user","content":"go on"}`, messages[i%len(messages)])
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// compressed returns what a compressor makes of a body.
func compressed(t *testing.T, to func(io.Writer) (io.WriteCloser, error), body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := to(&b)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// all sends bodies at the same time and counts the answers by status.
func (b *besieged) all(n int, body []byte, encoding string) map[int]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	statuses := map[int]int{}
	for range n {
		wg.Go(func() {
			s := b.send(body, encoding)
			mu.Lock()
			defer mu.Unlock()
			statuses[s]++
		})
	}
	wg.Wait()
	return statuses
}

// TestHostilePromises: sockets that declare long bodies, and send a byte or a megabyte of
// each.
func TestHostilePromises(t *testing.T) {
	b := besiege(t, shortAnswer, "")
	for first, sockets := range map[int]int{1: 500, 1 << 20: 200} {
		b.promise(sockets, bytes.Repeat([]byte(" "), first))
		longest := b.small(20)
		began := time.Now()
		if got := b.all(4, longChat(4<<20, everyMessage), ""); got[200] != 4 {
			t.Errorf("bodies of 4 MB: %v", got)
		}
		t.Logf("beside %d sockets that stall after %d bytes: small requests within %v, four of 4 MB within %v", sockets, first, longest, time.Since(began))
	}
}

func TestHostileBombs(t *testing.T) {
	b := besiege(t, shortAnswer, "")
	f := func(bombs, window int) {
		bomb := compressed(t, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithWindowSize(window)) }, make([]byte, 100<<20))
		done := make(chan map[int]int)
		began := time.Now()
		go func() { done <- b.all(bombs, bomb, "zstd") }()
		var longest time.Duration
		for waiting := true; waiting; {
			select {
			case got := <-done:
				if waiting = false; got[413] != bombs {
					t.Errorf("%d bombs: %v", bombs, got)
				}
			default:
				longest = max(longest, b.small(1))
			}
		}
		t.Logf("beside %d bombs of %d bytes (window %d KB), refused within %v: small requests within %v", bombs, len(bomb), window>>10, time.Since(began), longest)
	}
	f(16, 8<<20)
	f(60, 8<<20)
	f(60, 64<<10)
}

func TestHostileCompressedBodies(t *testing.T) {
	b := besiege(t, shortAnswer, "")
	body := longChat(30<<20, 64) // more than gzip remembers
	for name, packed := range map[string][]byte{"": body, "gzip": compressed(t, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }, body)} {
		began := time.Now()
		// A body waits only so long for room, so a busy machine may tell some to come again.
		if got := b.all(12, packed, name); got[200]+got[503] != 12 || got[200] < 6 {
			t.Errorf("12 bodies, %q: %v", name, got)
		}
		t.Logf("12 bodies of 30 MB, sent as %d bytes %q: answered within %v", len(packed), name, time.Since(began))
	}
}

// TestHostileMemory opens streams and sends large bodies beside them, and wants
// the process to stay within what limits.memory promises.
func TestHostileMemory(t *testing.T) {
	const streams, bodies, memory = 2000, 200, 512 << 20
	end := make(chan bool)
	var open atomic.Int32
	b := besiege(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Stream") == "" {
			shortAnswer(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		open.Add(1)
		<-end
	}, "")
	t.Cleanup(func() { close(end) })
	question := `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	for range streams {
		conn, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nX-Stream: 1\r\nContent-Length: %d\r\n\r\n%s", b.addr, len(question), question)
		if err != nil {
			t.Fatal(err)
		}
	}
	rig.Eventually(t, "all streams", func() bool { return open.Load() == streams })
	before := b.memory("VmRSS")
	body := longChat(4<<20, everyMessage)
	var mu sync.Mutex
	var wg sync.WaitGroup
	sentAway := 0
	for range bodies {
		wg.Go(func() {
			for {
				s := b.send(body, "")
				if s == 503 {
					mu.Lock()
					sentAway++
					mu.Unlock()
					time.Sleep(time.Second) // as the answer says
					continue
				}
				if s != 200 {
					t.Errorf("%d", s)
				}
				return
			}
		})
	}
	wg.Wait()
	peak, most := b.memory("VmHWM"), int64(memory*3/2+64<<20)
	t.Logf("%d streams: %d MB; with %d bodies of 4 MB (%d times 503): at most %d MB of %d", streams, before>>20, bodies, sentAway, peak>>20, most>>20)
	if peak > most {
		t.Error("that is too much")
	}
}

// memory is a line of the process's status, in bytes.
func (b *besieged) memory(name string) int64 {
	b.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.Cmd.Process.Pid))
	if err != nil {
		b.t.Skip("what a process takes is read from /proc, which this system does not have")
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, name+": %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	b.t.Fatal("no " + name)
	return 0
}

// TestHostileConnections opens 400 silent connections from one address: those
// beyond 256 are closed, other addresses are served meanwhile, and their own once
// the time for a head is over.
func TestHostileConnections(t *testing.T) {
	b := besiege(t, shortAnswer, "limits: {header_timeout: 3s}", "--listen", "0.0.0.0:0")
	_, port, err := net.SplitHostPort(b.addr)
	if err != nil {
		t.Fatal(err)
	}
	far := *b
	far.addr = net.JoinHostPort(ownAddress(t), port)
	far.url, b.url = "http://"+far.addr, "http://127.0.0.1:"+port
	began := time.Now()
	var closed atomic.Int32
	for range 400 {
		conn, err := net.Dial("tcp", far.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		go func() {
			_, _ = conn.Read(make([]byte, 1))
			closed.Add(1)
		}()
	}
	rig.Eventually(t, "those beyond 256 are closed", func() bool { return closed.Load() >= 400-256 })
	if n := closed.Load(); n != 400-256 && time.Since(began) < 2*time.Second {
		t.Errorf("%d were closed", n)
	}
	t.Logf("of 400 silent connections %d were closed at once; small requests from another address within %v", closed.Load(), b.small(20))
	rig.Eventually(t, "the others are closed, too", func() bool { return closed.Load() == 400 })
	far.small(20)
	t.Logf("all were closed after %v, and the address is served again", time.Since(began))
}

// ownAddress is an address of this machine that is not a loopback one.
func ownAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address but the loopback ones")
	return ""
}
