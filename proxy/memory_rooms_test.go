package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"laconic/proxy/access"

	"github.com/klauspost/compress/zstd"
)

func TestAClientIsItsKeyOrItsAddress(t *testing.T) {
	open := start(t, options(parseURL(t, "http://127.0.0.1:9/v1")))
	o := options(parseURL(t, "http://127.0.0.1:9/v1"))
	o.Default.Key, o.ClientKeys = "sk-ours", []access.Secret{"first", "second"}
	closed := start(t, o)
	f := func(p *running, address, key, want string) {
		t.Helper()
		r := &http.Request{RemoteAddr: address, Header: http.Header{
			"Authorization": {"Bearer " + key}, "X-Forwarded-For": {"192.0.2.77"}, "Forwarded": {"for=192.0.2.77"},
		}}
		if got := p.settings.Load().clientOf(r); got != want {
			t.Errorf("%s, %s: %q, want %q", address, key, got, want)
		}
	}
	hashOf := func(key access.Secret) string { return string(access.HashKeys([]access.Secret{key})[0][:]) }
	f(open, "192.0.2.1:1000", "first", "192.0.2.1")
	f(open, "[::ffff:192.0.2.1]:1000", "first", "192.0.2.1")
	f(open, "[2001:db8:1:2:3:4:5:6]:1000", "second", "2001:db8:1:2::/64")
	f(closed, "192.0.2.1:1000", "first", hashOf("first"))
	f(closed, "192.0.2.2:1000", "second", hashOf("second"))
}

// chunked sends the head of a chunked request.
func chunked(t *testing.T, p *running) (io.Writer, *bufio.Reader) {
	t.Helper()
	conn := dial(t, p.addr)
	_, err := fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func sendChunk(t *testing.T, to io.Writer, s string) {
	t.Helper()
	if _, err := fmt.Fprintf(to, "%x\r\n%s\r\n", len(s), s); err != nil {
		t.Fatal(err)
	}
}

// Six bodies without a length hold what has come of them, all there is, and
// want more: all are answered.
func TestBodiesThatGrowDoNotWaitForEachOther(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil), func(o *Options) { o.Limits.Memory, o.Limits.Body = 1<<20, 256<<10 })
	const bodies = 6
	var wg sync.WaitGroup
	var rest []func()
	for range bodies {
		to, from := chunked(t, p)
		sendChunk(t, to, chatBody+strings.Repeat(" ", 70<<10))
		rest = append(rest, func() {
			sendChunk(t, to, strings.Repeat(" ", 80<<10))
			_, _ = io.WriteString(to, "0\r\n\r\n")
		})
		wg.Go(func() {
			res, err := http.ReadResponse(from, nil)
			if err != nil || res.StatusCode != 200 {
				t.Errorf("%v %v", res, err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
		})
	}
	eventually(t, "they wait for memory", func() bool {
		return p.memory.Stats().WaitToArrive >= bodies-2
	})
	for _, finish := range rest {
		finish()
	}
	wg.Wait()
	if n := p.memory.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes of memory are still held", n)
	}
}

// What is in them is found out before memory is taken for it, so that those
// that hold too much never wait for any, and the others take it at once.
func TestCompressedBodiesAreMeasuredBeforeTheyTakeMemory(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u, func(o *Options) { o.Limits.Memory, o.Limits.Body = 64<<20, 2<<20 })
	fits := chatBody + strings.Repeat(" ", 1<<20)
	packed := map[string][]byte{"gzip": gzipped(t, []byte(fits)), "zstd": zstded(t, []byte(fits), zstd.WithWindowSize(64<<10))}
	bombs := map[string][]byte{"gzip": gzipped(t, make([]byte, 8<<20)), "zstd": zstded(t, make([]byte, 8<<20), zstd.WithWindowSize(64<<10))}
	busy := p.memory.Reserve("")
	if err := busy.Acquire(t.Context(), 44<<20); err != nil { // all but what is for small ones
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	status := make(chan int, 20)
	for encoding := range packed {
		for range 4 {
			wg.Go(func() { status <- p.chat(string(packed[encoding]), "Content-Encoding", encoding).StatusCode })
		}
	}
	eventually(t, "they wait for memory", func() bool {
		return p.memory.Stats().ToWork == 8
	})
	for encoding, bomb := range bombs {
		if res := p.chat(string(bomb), "Content-Encoding", encoding); res.StatusCode != 413 {
			t.Errorf("%s: %d %s", encoding, res.StatusCode, res.body)
		}
	}
	if res := p.chat(chatBody); res.StatusCode != 200 {
		t.Errorf("a small one: %d", res.StatusCode)
	}
	busy.Free()
	wg.Wait()
	for range 8 {
		if s := <-status; s != 200 {
			t.Errorf("%d", s)
		}
	}
}
