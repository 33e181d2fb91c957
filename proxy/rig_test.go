package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/e2e/rig"
	"laconic/proxy/summarize"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// got is one request as an upstream saw it.
type got struct {
	Method, URI, Host string
	Header            http.Header
	Length            int64
	Body              []byte
}

// upstream records requests, drained, and answers with reply.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	seen []got
}

const plainAnswer = `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":7}}}`

func newUpstream(t testing.TB, reply http.HandlerFunc) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewUnstartedServer(u.recording(reply))
	u.Config.ErrorLog = quiet
	u.Start()
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) recording(reply http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		u.mu.Lock()
		u.seen = append(u.seen, got{
			Method: r.Method, URI: r.RequestURI, Host: r.Host, Header: r.Header.Clone(), Length: r.ContentLength, Body: body,
		})
		u.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		if reply != nil {
			reply(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, plainAnswer)
	}
}

func (u *upstream) requests() []got {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]got(nil), u.seen...)
}

// newest returns the body that came last.
func (u *upstream) newest() []byte {
	all := u.requests()
	return all[len(all)-1].Body
}

// answering is an upstream that answers as says does; plainAnswer where that says nothing.
func answering(t testing.TB, says func(w http.ResponseWriter, body []byte) (said bool)) *upstream {
	t.Helper()
	return newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); !says(w, body) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, plainAnswer)
		}
	})
}

// saw ends a test whose upstream got another number of requests.
func (u *upstream) saw(t testing.TB, n int) []got {
	t.Helper()
	all := u.requests()
	if len(all) != n {
		t.Fatalf("the upstream saw %d requests, want %d", len(all), n)
	}
	return all
}

func (u *upstream) only(t testing.TB) got {
	t.Helper()
	return u.saw(t, 1)[0]
}

func (u *upstream) base(t testing.TB, path string) *url.URL { return parseURL(t, u.URL+path) }

func parseURL(t testing.TB, s string) *url.URL { return must(url.Parse(s)) }

// must returns what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// elide is the smallest stage: old results become a word.
type elide struct{}

func (elide) Name() string { return "elide_results" }

func (elide) Shrink(d *compact.Draft) {
	for ref := range d.Results() {
		if d.Over() == 0 {
			return
		}
		d.Rewrite(ref, "(gone)", "old tool result")
	}
}

// drop lets the oldest exchanges leave.
type drop struct{}

func (drop) Name() string { return "drop_oldest" }

func (drop) Shrink(d *compact.Draft) {
	for (d.Over() > 0 || d.OverMessages() > 0) && d.DropOldest("oldest exchange") {
	}
}

// testPolicy is a policy like the default one. A token is a word.
func testPolicy() *compact.Policy {
	return &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{elide{}, drop{}}}
}

// options are those of a proxy in front of base.
func options(base *url.URL) Options {
	return Options{
		Default: Route{
			Upstream: base, Policy: testPolicy(), Counter: compacttest.Words{}, Limits: compact.Limits{Budget: 1000},
		},
		Overrides: true, ResponseHeaders: true,
		Limits: Limits{
			Body: 64 << 20, Memory: 512 << 20, Header: 10 * time.Second,
			ResponseHeader: 15 * time.Minute, StreamIdle: 10 * time.Minute, Shutdown: 30 * time.Second,
		},
	}
}

// withRow has all models take a row that is as the default route but for a change.
func withRow(change func(*Route)) func(*Options) {
	return func(o *Options) {
		row := o.Default
		change(&row)
		o.Routes, o.RouteFor = []*Route{&row}, func(string) *Route { return &row }
	}
}

// running is a proxy on a real port.
type running struct {
	*Proxy
	t    testing.TB
	addr string
	url  string
	stop func() // and wait
	mu   sync.Mutex
	all  []ReplyInfo
	sent []RewriteInfo // in the order of sending; replies may end in another
	bugs []FaultInfo
	jobs []string // the reasons of the summaries that were tried
}

// summarized returns the reasons of the summaries that were tried.
func (r *running) summarized() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.jobs, ",")
}

func listening() net.Listener { return must(net.Listen("tcp", "127.0.0.1:0")) }

func start(t testing.TB, o Options) *running {
	t.Helper()
	r := &running{t: t}
	o.Listener = Tee(o.Listener, Listener{
		Replied:    func(i ReplyInfo) { r.mu.Lock(); defer r.mu.Unlock(); r.all = append(r.all, i) },
		Rewritten:  func(i ReplyInfo) { r.mu.Lock(); defer r.mu.Unlock(); r.sent = append(r.sent, *i.Rewrite) },
		Summarized: func(i summarize.JobInfo) { r.mu.Lock(); defer r.mu.Unlock(); r.jobs = append(r.jobs, i.Reason) },
		Failed:     func(i FaultInfo) { r.mu.Lock(); defer r.mu.Unlock(); r.bugs = append(r.bugs, i) },
	})
	p := must(New(o))
	l := listening()
	r.Proxy, r.addr = p, l.Addr().String()
	r.url = "http://" + r.addr
	if o.Certificate != nil {
		r.url = "https://" + r.addr
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// inFrontOf starts a proxy with default test options in front of an upstream.
func inFrontOf(t testing.TB, u *upstream, change ...func(*Options)) *running {
	t.Helper()
	o := options(u.base(t, "/v1"))
	for _, f := range change {
		f(&o)
	}
	return start(t, o)
}

// plain starts an upstream that always answers plainAnswer, and a proxy in front of it.
func plain(t testing.TB, change ...func(*Options)) (*upstream, *running) {
	t.Helper()
	u := newUpstream(t, nil)
	return u, inFrontOf(t, u, change...)
}

// replies waits until n requests are over.
func (r *running) replies(n int) (all []ReplyInfo) {
	r.t.Helper()
	rig.Eventually(r.t, fmt.Sprint(n, " requests end"), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		all = slices.Clone(r.all)
		return len(all) >= n
	})
	return all
}

func (r *running) faults() []FaultInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]FaultInfo(nil), r.bugs...)
}

// response is an answer, read.
type response struct {
	*http.Response
	body []byte
	err  error // of reading the body
}

// client is a client without a pool, so that nothing is left open.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (r *running) do(method, path string, body io.Reader, headers ...string) response {
	r.t.Helper()
	req := must(http.NewRequest(method, r.url+path, body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return response{res, b, err}
}

func (r *running) chat(body string, headers ...string) response {
	r.t.Helper()
	return r.do("POST", "/v1/chat/completions", strings.NewReader(body), append([]string{"Content-Type", "application/json"}, headers...)...)
}

// want fails where an answer has another status.
func (r response) want(t testing.TB, status int, of ...any) {
	t.Helper()
	if r.StatusCode != status {
		t.Errorf("%v: %d %s, want %d", of, r.StatusCode, r.body, status)
	}
}

// holdsNothing fails where memory is still taken by a request.
func holdsNothing(t testing.TB, p *Proxy) {
	t.Helper()
	if n := p.memory.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes of memory are still held", n)
	}
}

// envelopeError is what OpenAI's clients read of an error.
type envelopeError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// errorOf reads our envelope.
func (r response) errorOf(t testing.TB) envelopeError {
	t.Helper()
	var v struct {
		Error envelopeError `json:"error"`
	}
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not an error of ours: %v: %s", err, r.body)
	}
	if v.Error.Message == "" || v.Error.Type == "" {
		t.Fatalf("an error without sentence or type: %s", r.body)
	}
	return v.Error
}

func (r response) code(t testing.TB) string {
	t.Helper()
	if c := r.errorOf(t).Code; c != nil {
		return *c
	}
	return ""
}

// raw sends bytes on a connection of its own and reads the answer to its end.
func raw(t testing.TB, addr, request string) string {
	t.Helper()
	conn := dial(t, addr)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(conn)
	return string(b)
}

func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn.(*net.TCPConn)
}

// until reads lines up to one, and returns them.
func until(t testing.TB, in *bufio.Reader, last string) (read string) {
	t.Helper()
	for line := ""; line != last; read += line {
		var err error
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatalf("%v behind %q", err, read)
		}
	}
	return read
}

// statusOf is the status of a raw answer.
func statusOf(t testing.TB, answer string) int {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
	if err != nil {
		t.Fatalf("not an answer: %v: %q", err, answer)
	}
	return res.StatusCode
}

// rawUpstream speaks to every connection with serve, after the request was
// read to its end.
func rawUpstream(t testing.TB, serve func(conn *net.TCPConn, r *http.Request)) (base *url.URL, hits func() int) {
	t.Helper()
	var n atomic.Int64
	base = rawListener(t, func(conn *net.TCPConn) {
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		n.Add(1)
		serve(conn, r)
	})
	return base, func() int { return int(n.Load()) }
}

// rawListener is an upstream that serve makes of each connection. Connections
// end with the test, and within 20 seconds.
func rawListener(t testing.TB, serve func(conn *net.TCPConn)) (base *url.URL) {
	t.Helper()
	l := listening()
	var wg sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
				serve(conn.(*net.TCPConn))
			})
		}
	})
	return parseURL(t, "http://"+l.Addr().String()+"/v1")
}

// chatBody is a small legal request.
const chatBody = `{"model": "gpt-4o",  "messages":[{"role":"user","content":"hello there"}], "seed":1e0}`

// agentBody is an agent's history of n rounds, each with a result of size
// words. A round costs size + 2 words and a little.
func agentBody(n, size int) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4o","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"read the files"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"path\": \"f%d\"}"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":%q}`, i, strings.Repeat("word ", size))
	}
	b.WriteString(`],"temperature":0.5}`)
	return b.String()
}
