package proxy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	must(w.Write(b))
	_ = w.Close()
	return out.Bytes()
}

func zstded(t testing.TB, b []byte, o ...zstd.EOption) []byte {
	t.Helper()
	w := must(zstd.NewWriter(nil, o...))
	defer func() { _ = w.Close() }()
	return w.EncodeAll(b, nil)
}

func TestABodyOverTheLimitIsRefusedAndOthersServed(t *testing.T) {
	const limit = 100_000
	u, p := plain(t, func(o *Options) { o.Limits.Body = limit })
	sized := func(n int) string { return chatBody + strings.Repeat(" ", n-len(chatBody)) }
	f := func(n int, body io.Reader, want int) {
		t.Helper()
		before := len(u.requests())
		res := p.do("POST", "/v1/chat/completions", body)
		res.want(t, want, n, "bytes")
		sent := len(u.requests()) - before
		if want == 413 && (res.code(t) != "request_too_large" || sent != 0) {
			t.Errorf("%d bytes: %s, %d sent", n, res.body, sent)
		}
		if want == 200 && sent != 1 {
			t.Errorf("%d bytes: %d sent", n, sent)
		}
	}
	for _, n := range []int{limit - 1, limit, limit + 1, 2 * limit} {
		want := 200
		if n > limit {
			want = 413
		}
		f(n, strings.NewReader(sized(n)), want)
		f(n, io.MultiReader(strings.NewReader(sized(n))), want) // chunked, without a length
	}
	// a length alone is enough: nothing of it is read
	answer := raw(t, p.addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n")
	if statusOf(t, answer) != 413 {
		t.Errorf("%q", answer)
	}
	f(0, strings.NewReader(chatBody), 200)
	// uploads are streamed and know no limit
	p.do("POST", "/v1/files", strings.NewReader(sized(3*limit))).want(t, 200, "upload")
}

func TestACompressedBodyIsReadAndGoesAsItCameUnlessEdited(t *testing.T) {
	u, p := plain(t)
	over := []byte(agentBody(20, 100))
	f := func(name, encoding string, sent, edited []byte, outcome string) {
		t.Helper()
		before := len(u.requests())
		res := p.do("POST", "/v1/chat/completions", bytes.NewReader(sent), "Content-Encoding", encoding, "Content-Md5", "x", "Digest", "y", "Content-Digest", "z")
		if res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != outcome {
			t.Errorf("%s: %d, outcome %q, want %q", name, res.StatusCode, res.Header.Get("X-Laconic-Outcome"), outcome)
			return
		}
		got := u.requests()[before]
		if got.Length != int64(len(got.Body)) {
			t.Errorf("%s: length %d of %d", name, got.Length, len(got.Body))
		}
		if edited == nil {
			if !bytes.Equal(got.Body, sent) || got.Header.Get("Content-Encoding") != encoding || got.Header.Get("Digest") != "y" {
				t.Errorf("%s: %q arrived, %v", name, got.Body, got.Header)
			}
			return
		}
		if !bytes.Equal(got.Body, edited) {
			t.Errorf("%s: %d bytes arrived, want %d", name, len(got.Body), len(edited))
		}
		for _, h := range []string{"Content-Encoding", "Content-Md5", "Digest", "Content-Digest"} {
			if v := got.Header.Get(h); v != "" {
				t.Errorf("%s: %s: %s", name, h, v)
			}
		}
	}
	p.chat(string(over))
	compacted := u.only(t).Body

	small := []byte(chatBody)
	f("gzip", "gzip", gzipped(t, small), nil, "untouched")
	f("x-gzip", "X-GZip", gzipped(t, small), nil, "untouched")
	f("zstd", "zstd", zstded(t, small), nil, "untouched")
	f("identity", "identity", small, nil, "untouched")
	f("two members", "gzip", append(gzipped(t, small[:20]), gzipped(t, small[20:])...), nil, "untouched")
	f("gzip, edited", "gzip", gzipped(t, over), compacted, "compacted")
	f("zstd, edited", "zstd", zstded(t, over), compacted, "compacted")
	// what cannot be read is never edited
	damaged := gzipped(t, over)
	damaged[len(damaged)-6] ^= 1
	f("br", "br", over, nil, "passed")
	f("deflate", "deflate", over, nil, "passed")
	f("gzip in gzip", "gzip, gzip", gzipped(t, gzipped(t, over)), nil, "passed")
	f("unknown", "wat", over, nil, "passed")
	f("not gzip", "gzip", over, nil, "passed")
	f("half a gzip", "gzip", gzipped(t, over)[:100], nil, "passed")
	f("gzip and more", "gzip", append(gzipped(t, over), 'x'), nil, "passed")
	f("wrong checksum", "gzip", damaged, nil, "passed")
	f("not zstd", "zstd", over, nil, "passed")
	f("compressed garbage", "gzip", gzipped(t, []byte("not json")), nil, "passed")
}

func TestACompressionBombIsRefused(t *testing.T) {
	u, p := plain(t, func(o *Options) { o.Limits.Body, o.Limits.Memory = 1<<20, 16<<20 })
	zeros := make([]byte, 100<<20)
	f := func(name, encoding string, sent []byte) {
		t.Helper()
		res := p.do("POST", "/v1/chat/completions", bytes.NewReader(sent), "Content-Encoding", encoding)
		if res.StatusCode != 413 || res.code(t) != "request_too_large" {
			t.Errorf("%s (%d bytes): %d %s", name, len(sent), res.StatusCode, res.body)
		}
	}
	f("gzip", "gzip", gzipped(t, zeros))
	f("zstd", "zstd", zstded(t, zeros))
	// a frame that asks for a window of 512 MB and holds nearly nothing
	f("window", "zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 19 << 3, 0x01, 0x00, 0x00})
	u.saw(t, 0)
	holdsNothing(t, p.Proxy)
}

// unread are some of the bodies that are passed byte for byte, with the reason.
var unread = []struct{ reason, body string }{
	{"empty_body", ""},
	{"not_an_object", "hello"},
	{"invalid_json", `{"messages":[{"role":"user","content":"x"}]`},
	{"invalid_utf8", "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}"},
	{"duplicate_key", `{"messages":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"b"}]}`},
	{"messages_missing", `{"model":"gpt-4o"}`},
	{"role_unknown", `{"messages":[{"role":"robot","content":"x"}]}`},
}

func TestWhatCannotBeReadPassesByteForByteWithAReason(t *testing.T) {
	u, p := plain(t)
	for i, c := range unread {
		res := p.chat(c.body)
		got := u.requests()[i]
		if res.StatusCode != 200 || string(got.Body) != c.body || res.Header.Get("X-Laconic-Outcome") != "passed" {
			t.Errorf("%.60q: %d, outcome %q, %q arrived", c.body, res.StatusCode, res.Header.Get("X-Laconic-Outcome"), got.Body)
		}
		if r := p.replies(i + 1)[i]; r.Passed != c.reason || r.Rewrite != nil {
			t.Errorf("%.60q: %+v, want %s", c.body, r.Passed, c.reason)
		}
	}
	if b := p.faults(); len(b) != 0 {
		t.Errorf("faults: %+v", b)
	}
}

func TestMemoryForBodiesIsWaitedForThenRefused(t *testing.T) {
	hold := make(chan bool)
	_, p := plain(t, func(o *Options) { o.Limits.Body, o.Limits.Memory = 1<<20, 1<<20 })
	p.memory.Wait = 300_000_000 // 0.3 s
	body := agentBody(10, 1000) // 50 KB; at bodyCost it needs a fifth of the room
	seat := p.memory.Reserve("")
	if err := seat.Acquire(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	res := p.chat(body)
	if res.StatusCode != 503 || res.code(t) != "proxy_overloaded" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s %v", res.StatusCode, res.body, res.Header)
	}
	p.chat(string(gzipped(t, []byte(body))), "Content-Encoding", "gzip").want(t, 503, "compressed")
	// other routes hold nothing
	p.do("POST", "/v1/embeddings", strings.NewReader(body)).want(t, 200, "embeddings")
	// one that waits is served when there is room
	p.memory.Wait = 1 << 40
	go func() { <-hold; seat.Free(); seat.Free() }()
	done := make(chan response)
	go func() { done <- p.chat(body) }()
	hold <- true
	(<-done).want(t, 200, "after waiting")
	// a body that costs more than all room goes alone
	p.chat(agentBody(10, 20_000)).want(t, 200, "large")
	holdsNothing(t, p.Proxy)
}

// A client reads the answer once it has sent everything. It must not find its
// connection reset by then.
func TestARefusedClientMayFinishSendingAndReadsWhy(t *testing.T) {
	_, p := plain(t, func(o *Options) {
		o.Limits.Body = 1 << 20
		o.Default.Key, o.ClientKeys = "sk-ours", []ClientKey{{Key: "key"}}
	})
	f := func(name, headers string, size, want int) {
		t.Helper()
		conn := dial(t, p.addr)
		_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n", headers, size)
		for chunk, sent := make([]byte, 64<<10), 0; sent < size; sent += len(chunk) {
			if _, err := conn.Write(chunk[:min(len(chunk), size-sent)]); err != nil {
				t.Errorf("%s: cut after %d bytes: %v", name, sent, err)
				return
			}
			time.Sleep(time.Millisecond)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || statusOf(t, string(answer)) != want {
			t.Errorf("%s: %q %v", name, answer, err)
		}
	}
	for _, connection := range []string{"", "Connection: close\r\n"} {
		f("too large", connection+"Authorization: Bearer key\r\n", 8<<20, 413)
		f("wrong key", connection+"Authorization: Bearer wrong\r\n", 8<<20, 401)
		f("foreign origin", connection+"Origin: https://evil.example\r\n", 8<<20, 403)
	}
}
