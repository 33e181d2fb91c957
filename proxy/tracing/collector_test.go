package tracing

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/proxy"
)

// TestMain clears the variables of whoever runs the tests.
func TestMain(m *testing.M) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// collector takes traces, and decodes them.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	requests int
	raw      []byte // all bodies
	resource map[string]any
	spans    []*tracepb.Span
}

func newCollector(t testing.TB) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent collectorpb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests++
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
			return
		}
		c.raw = append(c.raw, body...)
		for _, of := range sent.ResourceSpans {
			c.resource = valuesOf(of.Resource.Attributes)
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// named returns the only span of that name.
func (c *collector) named(t testing.TB, name string) *tracepb.Span {
	t.Helper()
	var found *tracepb.Span
	for _, s := range c.spans {
		switch {
		case s.Name != name:
		case found != nil:
			t.Fatalf("two spans %q", name)
		default:
			found = s
		}
	}
	if found == nil {
		t.Fatalf("no span %q in %v", name, c.names())
	}
	return found
}

func (c *collector) names() (all []string) {
	for _, s := range c.spans {
		all = append(all, s.Name)
	}
	slices.Sort(all)
	return all
}

func valuesOf(list []*commonpb.KeyValue) map[string]any {
	all := map[string]any{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			all[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			all[kv.Key] = int(v.IntValue)
		case *commonpb.AnyValue_BoolValue:
			all[kv.Key] = v.BoolValue
		case *commonpb.AnyValue_ArrayValue:
			var texts []string
			for _, e := range v.ArrayValue.Values {
				texts = append(texts, e.GetStringValue())
			}
			all[kv.Key] = strings.Join(texts, " ")
		default:
			all[kv.Key] = fmt.Sprint(kv.Value)
		}
	}
	return all
}

// lines are those of a log.
type lines struct {
	mu         sync.Mutex
	warn, info []string
}

func (l *lines) options() Options {
	add := func(to *[]string) func(string) {
		return func(line string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			*to = append(*to, line)
		}
	}
	return Options{Version: "v1.2.3", Warn: add(&l.warn), Info: add(&l.info)}
}

func (l *lines) warnings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.warn)
}

// upstream answers without a network, and keeps the headers of requests.
type upstream struct {
	answer func(*http.Request) (*http.Response, error)
	mu     sync.Mutex
	seen   []http.Header
}

func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	u.mu.Lock()
	u.seen = append(u.seen, r.Header.Clone())
	u.mu.Unlock()
	return u.answer(r)
}

func (u *upstream) last() http.Header { return u.seen[len(u.seen)-1] }

// says is an upstream that always answers the same.
func says(status int, kind, body string) *upstream {
	return &upstream{answer: func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
			Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}}
}

const answered = `{"id":"1","object":"chat.completion","model":"gpt-x-2026","choices":[{"index":0,"message":{"role":"assistant","content":"private answer"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":900,"completion_tokens":20,"total_tokens":920,"prompt_tokens_details":{"cached_tokens":700}}}`

// newProxy returns a proxy whose requests t traces.
func newProxy(tb testing.TB, t *Tracing, u *upstream) *proxy.Proxy {
	tb.Helper()
	policy := &compact.Policy{Name: "adaptive", Ladder: stage.Default()}
	base := &url.URL{Scheme: "https", Host: "upstream.example", Path: "/v1"}
	p, err := proxy.New(proxy.Options{
		Default:   proxy.Route{Match: "gpt-*", Upstream: base, Policy: policy, Counter: compacttest.Words{}, Limits: compact.Limits{Budget: 1000}},
		Overrides: true, ResponseHeaders: true, Transport: u, StartSpan: t.StartSpan(),
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Close)
	return p
}

func ask(p *proxy.Proxy, method, path, body string, headers ...string) http.Header {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	defer func() { _ = recover() }() // an answer that is cut
	p.ServeHTTP(w, r)
	return w.Header()
}

// agent returns the body of an agent's request after so many calls of some words.
func agent(calls, words int) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-x","messages":[{"role":"system","content":"private rule"},{"role":"user","content":"private task"}`)
	for i := range calls {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"read","arguments":"{\"private\":1}"}}]}`+
			`,{"role":"tool","tool_call_id":"c%[1]d","content":%[2]q}`, i, strings.Repeat("private ", words))
	}
	return b.String() + "]}"
}

// traced sends requests through a proxy that is traced, and returns what its
// collector got when it was closed.
func traced(t *testing.T, u *upstream, requests func(*proxy.Proxy)) (*collector, *lines) {
	t.Helper()
	c, l := newCollector(t), &lines{}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	traces := New(l.options())
	if traces == nil {
		t.Fatal("off", l.warnings())
	}
	requests(newProxy(t, traces, u))
	traces.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c, l
}

const (
	clientTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan   = "00f067aa0ba902b7"
	clientParent = "00-" + clientTrace + "-" + clientSpan + "-01"
)

func id(b []byte) string { return hex.EncodeToString(b) }

func at(ns uint64) time.Time { return time.Unix(0, int64(ns)) }
