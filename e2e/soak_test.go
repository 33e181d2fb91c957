package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"laconic/compact/compacttest"
	"laconic/demo/strict"
	"laconic/store/storetest"
)

// TestSoak runs the command for a long time under traffic of two kinds, in front
// of upstreams that die and with a Redis that comes and goes. Recorded
// conversations grow turn by turn; beside them come slow bodies, bombs, sockets
// that are half closed, random keys, orphans, upgrades and clients that leave. It
// passes when no promise was broken at the upstream, and goroutines, descriptors
// and memory of the last third are those of the second.
//
// LACONIC_SOAK is how long it takes (make soak).
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("LACONIC_SOAK"))
	if err != nil || length < time.Minute {
		t.Skip("LACONIC_SOAK names no duration of a minute or more")
	}
	s := newSoak(t)
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var workers sync.WaitGroup
	repeat := func(n int, pause time.Duration, f func(ctx context.Context, rng *mathrand.Rand)) {
		for i := range n {
			workers.Go(func() {
				for rng := mathrand.New(mathrand.NewPCG(uint64(i), uint64(pause))); ctx.Err() == nil; wait(ctx, pause) {
					f(ctx, rng)
				}
			})
		}
	}
	repeat(6, 0, s.agent)
	repeat(2, 100*time.Millisecond, s.orphans)
	repeat(2, 50*time.Millisecond, s.leaves)
	repeat(8, 100*time.Millisecond, s.dripsABody)
	repeat(2, 500*time.Millisecond, s.bomb)
	repeat(2, 100*time.Millisecond, s.halfCloses)
	repeat(1, 500*time.Millisecond, s.randomKey)
	repeat(1, 200*time.Millisecond, s.upgrades)
	repeat(1, time.Second, s.upstreamsDie)
	repeat(1, 15*time.Second, s.redisGoes)

	all := s.watch(ctx, length)
	workers.Wait()
	third := len(all) / 3
	second, last := all[third:2*third], all[2*third:]
	for _, q := range []struct {
		name      string
		of        func(sample) int
		part, add int // how much more the last third may have: one in part, and add
	}{
		{"goroutines", func(a sample) int { return a.goroutines }, 5, 20},
		{"descriptors", func(a sample) int { return a.descriptors }, 5, 20},
		{"RSS (KB)", func(a sample) int { return a.rss }, 8, 8 << 10},
	} {
		before, after := median(second, q.of), median(last, q.of)
		t.Logf("%s: %d in the second third, %d in the last", q.name, before, after)
		if after > before+before/q.part+q.add {
			t.Errorf("%s grow: %d in the second third, %d in the last", q.name, before, after)
		}
	}
	t.Logf("%s", s.totals())
	if n := s.refused.Load() + s.smuggled.Load() + s.unended.Load() + s.illegal.Load(); n > 0 {
		t.Errorf("%d promises broken: %s\n%s", n, s.totals(), s.first())
	}
	if s.answered.Load() < 100 {
		t.Errorf("%d answers are too few to tell anything", s.answered.Load())
	}
	// At rest nothing is left of all that.
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		if rest := s.sample(); rest.requests == 0 {
			t.Logf("at rest: %s", rest)
			break
		} else if time.Now().After(end) {
			t.Fatalf("requests are left: %s", rest)
		}
	}
}

// soak is the command under its traffic.
type soak struct {
	t             *testing.T
	p             *laconic
	admin         string
	pid           int
	conversations []recording
	toxic         []*toxiproxy.Proxy
	redis         *storetest.Redis
	zeros         []byte // a bomb

	answered, broken, failed, attacked, left atomic.Int64

	refused  atomic.Int64 // a request that the upstream refused for its shape
	smuggled atomic.Int64 // a request at the upstream that nobody sent
	unended  atomic.Int64 // an answer that ended well without its end
	illegal  atomic.Int64 // an answer that no request of its kind may have

	mu    sync.Mutex
	words []string // of what was broken
}

type recording struct {
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
}

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, redis: storetest.StartRedis(t)}
	s.conversations = recordings(t)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 100<<20)) // a buffer takes everything
	_ = z.Close()
	s.zeros = bomb.Bytes()
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for range 2 {
		u := strict.New(strict.Options{Limit: 24_000, Latency: 2 * time.Millisecond, MaxID: -1})
		up := httptest.NewServer(s.judging(u))
		t.Cleanup(up.Close)
		p := toxiproxy.NewProxy(api, "upstream", "127.0.0.1:0", strings.TrimPrefix(up.URL, "http://"))
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Stop)
		s.toxic = append(s.toxic, p)
	}
	config := fmt.Sprintf(`
limits: {memory: 192MiB}
models:
  - {match: "house*", upstream: "http://%[1]s/v1", api_key: house, budget: 6000}
  - {match: "*", budget: 12000}
summarizer: {upstream: "http://%[1]s/v1", model: house-summaries, api_key: house, timeout: 5s}
store: {kind: redis, url: "%[2]s", secret: a-secret-of-more-than-sixteen-letters}
`, s.toxic[1].Listen, s.redis.URL())
	s.p = startLaconic(t, "http://"+s.toxic[0].Listen+"/v1", config, "--admin", "127.0.0.1:0", "--log-level", "error")
	s.pid = s.p.Cmd.Process.Pid
	s.admin = regexp.MustCompile(`"health":"(http://[^"]+)/healthz"`).FindStringSubmatch(s.p.Text)[1]
	return s
}

// recordings returns conversations as agents had them.
func recordings(t *testing.T) (all []recording) {
	for _, file := range compacttest.ConversationFiles(t) {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for in := bufio.NewReaderSize(f, 1<<20); ; {
			line, err := in.ReadBytes('\n')
			var r recording
			if json.Unmarshal(line, &r) == nil && len(r.Messages) > 3 {
				all = append(all, r)
			}
			if err != nil {
				break
			}
		}
		_ = f.Close()
	}
	t.Logf("%d conversations", len(all))
	return all
}

// judging looks at what arrives before the upstream does.
func (s *soak) judging(u *strict.Upstream) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // cut on the way
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		kind := r.Header.Get("X-Soak")
		if _, no := u.Read(body); kind == "agent" && no != nil && no.Kind != strict.KindOverflow {
			s.broke(&s.refused, "the upstream refuses: "+no.Message)
		}
		if own := r.Header.Get("User-Agent") == "laconic" || strings.Contains(string(body), `"house-summaries"`); kind == "" && !own {
			s.broke(&s.smuggled, r.Method+" "+r.RequestURI)
		}
		u.ServeHTTP(w, r)
	})
}

func (s *soak) broke(n *atomic.Int64, what string) {
	n.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.words) < 20 {
		s.words = append(s.words, what)
	}
}

func (s *soak) first() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.words, "\n")
}

func (s *soak) totals() string {
	return fmt.Sprintf("%d answered, %d broken, %d refused or out of reach, %d attacks, %d left; at the upstream %d illegal, %d that nobody sent; %d ended early, %d wrongly answered",
		s.answered.Load(), s.broken.Load(), s.failed.Load(), s.attacked.Load(), s.left.Load(), s.refused.Load(), s.smuggled.Load(), s.unended.Load(), s.illegal.Load())
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (s *soak) request(ctx context.Context, kind, path string, body io.Reader) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.p.URL+path, body)
	if err != nil {
		s.t.Error(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Soak", kind)
	r.Header.Set("Authorization", "Bearer sk-soak")
	return r
}

// agent has one recorded conversation, from its start.
func (s *soak) agent(ctx context.Context, rng *mathrand.Rand) {
	c := s.conversations[rng.IntN(len(s.conversations))]
	model := []string{"gpt-4o", "house-1", "unknown-7b"}[rng.IntN(3)]
	turns := 0
	for i, m := range c.Messages {
		if i == 0 || !bytes.Contains(m[:min(len(m), 40)], []byte(`"assistant"`)) {
			continue
		}
		if turns++; turns > 60 || ctx.Err() != nil {
			return
		}
		stream := rng.IntN(3) > 0
		s.turn(ctx, model, stream, c.Messages[:i], c.Tools)
	}
}

// turn sends one request, and looks how its answer ends.
func (s *soak) turn(ctx context.Context, model string, stream bool, messages []json.RawMessage, tools json.RawMessage) {
	body, err := json.Marshal(struct {
		Model    string            `json:"model"`
		Stream   bool              `json:"stream"`
		Messages []json.RawMessage `json:"messages"`
		Tools    json.RawMessage   `json:"tools,omitempty"`
	}{model, stream, messages, tools})
	if err != nil {
		s.t.Error(err)
		return
	}
	res, err := client.Do(s.request(ctx, "agent", "/v1/chat/completions", bytes.NewReader(body)))
	if err != nil {
		s.broken.Add(1)
		return
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		s.broken.Add(1)
	case res.StatusCode != http.StatusOK:
		s.failed.Add(1)
	case stream && !bytes.HasSuffix(bytes.TrimSpace(text), []byte("data: [DONE]")) || !stream && !json.Valid(text):
		s.broke(&s.unended, fmt.Sprintf("stream %v: %.300s", stream, text))
	default:
		s.answered.Add(1)
	}
}

// orphans are results without calls, and calls without results.
func (s *soak) orphans(ctx context.Context, rng *mathrand.Rand) {
	c := s.conversations[rng.IntN(len(s.conversations))]
	from := rng.IntN(len(c.Messages))
	messages := slices.Concat([]json.RawMessage{json.RawMessage(`{"role":"user","content":"Go on."}`)}, c.Messages[from:min(len(c.Messages), from+6)])
	s.turn(ctx, "gpt-4o", false, messages, nil)
	s.attacked.Add(1)
}

// leaves goes away in the middle of a stream, or before it.
func (s *soak) leaves(ctx context.Context, rng *mathrand.Rand) {
	ctx, leave := context.WithTimeout(ctx, time.Duration(rng.IntN(30))*time.Millisecond)
	defer leave()
	res, err := client.Do(s.request(ctx, "leaves", "/v1/chat/completions", strings.NewReader(`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hi"}]}`)))
	if s.left.Add(1); err == nil {
		_, _ = io.CopyN(io.Discard, res.Body, 10)
		_ = res.Body.Close()
	}
}

// socket sends bytes on a connection of its own.
func (s *soak) socket(f func(conn *net.TCPConn)) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.p.URL, "http://"))
	if err != nil {
		s.t.Error(err)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	f(conn.(*net.TCPConn))
	s.attacked.Add(1)
}

const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nX-Soak: raw\r\n"

func (s *soak) dripsABody(ctx context.Context, rng *mathrand.Rand) {
	s.socket(func(conn *net.TCPConn) {
		_, _ = io.WriteString(conn, head+"Content-Length: 67108864\r\n\r\n{")
		for range rng.IntN(20) {
			wait(ctx, 100*time.Millisecond)
			_, _ = io.WriteString(conn, " ")
		}
	})
}

func (s *soak) bomb(ctx context.Context, _ *mathrand.Rand) {
	r := s.request(ctx, "bomb", "/v1/chat/completions", bytes.NewReader(s.zeros))
	r.Header.Set("Content-Encoding", "gzip")
	if res, err := client.Do(r); err == nil {
		if res.StatusCode != http.StatusRequestEntityTooLarge && res.StatusCode != http.StatusServiceUnavailable {
			s.broke(&s.illegal, fmt.Sprintf("a bomb: %d", res.StatusCode))
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	s.attacked.Add(1)
}

func (s *soak) halfCloses(_ context.Context, rng *mathrand.Rand) {
	s.socket(func(conn *net.TCPConn) {
		text := head + "Content-Length: 60\r\n\r\n" + `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`
		_, _ = io.WriteString(conn, text[:rng.IntN(len(text))])
		_ = conn.CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	})
}

func (s *soak) randomKey(ctx context.Context, rng *mathrand.Rand) {
	r := s.request(ctx, "key", "/v1/chat/completions", strings.NewReader(fmt.Sprintf(`{"model":"m-%d","messages":[{"role":"user","content":"hi"}]}`, rng.Uint64())))
	r.Header.Set("Authorization", "Bearer "+rand.Text())
	if res, err := client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	s.attacked.Add(1)
}

func (s *soak) upgrades(context.Context, *mathrand.Rand) {
	s.socket(func(conn *net.TCPConn) {
		_, _ = io.WriteString(conn, "GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nX-Soak: raw\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && (res.StatusCode < 400 || res.StatusCode > 499) {
			s.broke(&s.illegal, fmt.Sprintf("an upgrade: %d", res.StatusCode))
		}
	})
}

// upstreamsDie makes one upstream go, cut its answers, or take its time.
func (s *soak) upstreamsDie(ctx context.Context, rng *mathrand.Rand) {
	p := s.toxic[rng.IntN(len(s.toxic))]
	switch n := rng.IntN(4); n {
	case 0:
		p.Stop()
		wait(ctx, time.Second)
		if err := p.Start(); err != nil {
			s.t.Error(err)
		}
	default:
		toxic := []string{
			`{"name":"x","type":"reset_peer","attributes":{"timeout":20}}`,
			`{"name":"x","type":"limit_data","attributes":{"bytes":700}}`,
			`{"name":"x","type":"latency","attributes":{"latency":100,"jitter":50}}`,
		}[n-1]
		if _, err := p.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			s.t.Error(err)
		}
		wait(ctx, time.Second)
		p.Toxics.ResetToxics(context.WithoutCancel(ctx))
	}
	wait(ctx, 3*time.Second)
}

func (s *soak) redisGoes(ctx context.Context, _ *mathrand.Rand) {
	s.redis.Stop()
	wait(ctx, 3*time.Second)
	s.redis.Start(s.t)
}

// sample is what the process holds at one moment.
type sample struct{ requests, goroutines, heap, descriptors, rss int }

func (a sample) String() string {
	return fmt.Sprintf("%d requests, %d goroutines, %d descriptors, %d MB of heap, %d MB resident", a.requests, a.goroutines, a.descriptors, a.heap>>20, a.rss>>10)
}

var processLine = regexp.MustCompile(`(?m)^process: (\d+) requests, (\d+) goroutines, (\d+) bytes of heap`)

func (s *soak) sample() (a sample) {
	res, err := client.Get(s.admin + "/readyz?verbose")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	page, _ := io.ReadAll(res.Body)
	m := processLine.FindSubmatch(page)
	if m == nil {
		s.t.Fatalf("%s", page)
	}
	for i, n := range []*int{&a.requests, &a.goroutines, &a.heap} {
		*n, _ = strconv.Atoi(string(m[i+1]))
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.pid))
	if err != nil {
		s.t.Skipf("there is no /proc here: %v", err)
	}
	a.descriptors = len(open)
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if m := regexp.MustCompile(`VmRSS:\s+(\d+)`).FindSubmatch(status); m != nil {
		a.rss, _ = strconv.Atoi(string(m[1]))
	}
	return a
}

// watch samples twice a second, and prints a line a minute.
func (s *soak) watch(ctx context.Context, length time.Duration) (all []sample) {
	began := time.Now()
	fmt.Println("| after | requests | goroutines | descriptors | heap MB | RSS MB | answered | broken | failed | attacks | left |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for next := time.Minute; ctx.Err() == nil; wait(ctx, 500*time.Millisecond) {
		a := s.sample()
		all = append(all, a)
		if since := time.Since(began); since >= next || since > length-time.Second && next < length+time.Minute {
			next += time.Minute
			fmt.Printf("| %v | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", since.Round(time.Second), a.requests, a.goroutines, a.descriptors, a.heap>>20, a.rss>>10,
				s.answered.Load(), s.broken.Load(), s.failed.Load(), s.attacked.Load(), s.left.Load())
		}
	}
	return all
}

func median(all []sample, of func(sample) int) int {
	numbers := make([]int, len(all))
	for i, a := range all {
		numbers[i] = of(a)
	}
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}
