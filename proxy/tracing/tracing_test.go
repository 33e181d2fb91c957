package tracing

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/e2e/rig"
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

// spans are those of a few requests.
type spans tracetest.SpanStubs

// named returns the only span of that name.
func (all spans) named(t *testing.T, name string) tracetest.SpanStub {
	t.Helper()
	if n := slices.Index(all.names(), name); n < 0 || slices.Contains(all.names()[n+1:], name) {
		t.Fatalf("%q, want %q once", all.names(), name)
	}
	return all[slices.IndexFunc(all, func(s tracetest.SpanStub) bool { return s.Name == name })]
}

func (all spans) names() (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

func valuesOf(list []attribute.KeyValue) map[string]any {
	all := map[string]any{}
	for _, kv := range list {
		all[string(kv.Key)] = kv.Value.AsInterface()
	}
	return all
}

// traced sends requests through a proxy, and returns their spans. A test of the binary
// reads what a collector gets.
func traced(t *testing.T, u *upstream, requests func(*proxy.Proxy)) spans {
	t.Helper()
	to := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(to))
	requests(newProxy(t, &Tracing{tracer: provider.Tracer("test")}, u))
	return spans(to.GetSpans())
}

const (
	clientTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan   = "00f067aa0ba902b7"
	clientParent = "00-" + clientTrace + "-" + clientSpan + "-01"
)

// lines are those of a log.
type lines struct {
	mu         sync.Mutex
	warn, info []string
}

func (l *lines) options() (version string, warn, info func(string)) {
	add := func(to *[]string) func(string) {
		return func(line string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			*to = append(*to, line)
		}
	}
	return "v1.2.3", add(&l.warn), add(&l.info)
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
		Overrides: true, ResponseHeaders: true, Transport: u, StartTrace: t.StartTrace(),
		Limits: proxy.Limits{Body: 64 << 20, Memory: 512 << 20, ResponseHeader: time.Minute, StreamIdle: time.Minute},
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

// TestSpanOfAChat: the span of one request, those below it, and what the upstream sees.
func TestSpanOfAChat(t *testing.T) {
	u := says(200, "application/json", answered)
	var id16 string
	all := traced(t, u, func(p *proxy.Proxy) {
		id16 = ask(p, "POST", "/v1/chat/completions?key=private", agent(30, 100), "Authorization", "Bearer private",
			"Traceparent", clientParent, "Tracestate", "a=1,b=2", "Baggage", "user=x", "X-Laconic-Tags", "team=blue").Get("X-Laconic-Request-Id")
	})
	if got, want := all.names(), []string{"chat gpt-x", "decode", "fold", "upstream first byte"}; !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	root := all.named(t, "chat gpt-x")
	if root.SpanKind != trace.SpanKindClient || root.Status.Code != codes.Unset || root.SpanContext.TraceID().String() != clientTrace || root.Parent.SpanID().String() != clientSpan {
		t.Error(root)
	}
	for _, s := range all {
		if s.SpanContext.TraceState().Len() > 0 {
			t.Error("what the client wrote as tracestate is in a span")
		}
		if s.Name == root.Name {
			continue
		}
		if s.SpanKind != trace.SpanKindInternal || s.Parent.SpanID() != root.SpanContext.SpanID() || len(s.Attributes) > 0 {
			t.Error(s)
		}
		if s.StartTime.Before(root.StartTime) || s.EndTime.After(root.EndTime) || s.EndTime.Before(s.StartTime) {
			t.Errorf("%s: from %v to %v in %v to %v", s.Name, s.StartTime, s.EndTime, root.StartTime, root.EndTime)
		}
	}
	if !all.named(t, "decode").EndTime.Equal(all.named(t, "fold").StartTime) {
		t.Error("the fold does not begin where the decoding ends")
	}
	h := u.last()
	want := []string{"00-" + clientTrace + "-" + root.SpanContext.SpanID().String() + "-01"}
	if !slices.Equal(h["Traceparent"], want) || !slices.Equal(h["Tracestate"], []string{"a=1,b=2"}) || h.Get("Baggage") != "user=x" {
		t.Error(h)
	}
	got := valuesOf(root.Attributes)
	before, after, epochs, stages := got["laconic.tokens.before"], got["laconic.tokens.after"], got["laconic.epochs"], got["laconic.stages"]
	if before.(int64) < 3000 || after.(int64) > 1000 || after.(int64) == 0 || epochs.(int64) == 0 || !strings.Contains(fmt.Sprint(stages), "summarize") {
		t.Error(got)
	}
	diff := cmp.Diff(map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
		"openai.api.type":      "chat_completions",
		"gen_ai.request.model": "gpt-x", "gen_ai.request.stream": false, "gen_ai.response.model": "gpt-x-2026",
		"gen_ai.usage.input_tokens": int64(900), "gen_ai.usage.output_tokens": int64(20), "gen_ai.usage.cache_read.input_tokens": int64(700),
		"gen_ai.conversation.compacted": true,
		"server.address":                "upstream.example", "server.port": int64(443), "http.request.method": "POST", "http.response.status_code": int64(200),
		"laconic.request.id": id16, "laconic.outcome": "compacted", "laconic.route": "gpt-*", "laconic.policy": "adaptive", "laconic.tags": "team=blue",
		"laconic.tokens.before": before, "laconic.tokens.after": after, "laconic.budget": int64(1000), "laconic.repairs": int64(0),
		"laconic.epochs": epochs, "laconic.epoch.new": got["laconic.epoch.new"], "laconic.stages": stages,
	}, got)
	if diff != "" || id16 == "" || strings.Contains(fmt.Sprint(all), "private") {
		t.Error(diff)
	}
}

// TestEverySpan: of each way that a request may go, its span, and those below it.
func TestEverySpan(t *testing.T) {
	plain, chat := says(200, "application/json", answered), "/v1/chat/completions"
	refused := &upstream{answer: func(*http.Request) (*http.Response, error) { return nil, errors.New("no connection") }}
	all := []string{"decode", "fold", "upstream first byte"}
	f := func(what string, u *upstream, request []string, name string, below []string, want map[string]any) { // nil: not there
		t.Run(what, func(t *testing.T) {
			got := traced(t, u, func(p *proxy.Proxy) { ask(p, request[0], request[1], request[2], request[3:]...) })
			root := got.named(t, name)
			attributes := valuesOf(root.Attributes)
			for key, want := range want {
				if v, there := attributes[key]; v != want || there != (want != nil) {
					t.Errorf("%s is %v, want %v", key, v, want)
				}
			}
			failed := attributes["error.type"] != nil
			if (root.Status.Code == codes.Error) != failed {
				t.Error(root.Status)
			}
			names := append([]string{name}, below...)
			slices.Sort(names)
			if !slices.Equal(got.names(), names) {
				t.Errorf("%q", got.names())
			}
			for _, s := range got {
				if s.Name == "upstream first byte" && (s.Status.Code == codes.Error) != (u == refused) {
					t.Error(s)
				}
			}
		})
	}
	f("a short one is untouched", plain, []string{"POST", chat, agent(1, 3)},
		"chat gpt-x", all,
		map[string]any{"laconic.outcome": "untouched", "gen_ai.conversation.compacted": false, "laconic.stages": nil, "error.type": nil})
	f("a stream names the model in its first event",
		says(200, "text/event-stream", "data: {\"model\":\"a\",\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"model\":\"b\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n"), []string{"POST", chat, strings.Replace(agent(1, 3), "{", `{"stream":true,`, 1)},
		"chat gpt-x", all,
		map[string]any{"gen_ai.response.model": "a", "gen_ai.request.stream": true, "gen_ai.usage.input_tokens": int64(5), "gen_ai.usage.output_tokens": int64(1)})
	f("a shadow is not compacted", plain, []string{"POST", chat, agent(30, 100), "X-Laconic-Mode", "shadow"},
		"chat gpt-x", all,
		map[string]any{"laconic.outcome": "shadow", "gen_ai.conversation.compacted": false})
	f("what cannot be read passes", plain, []string{"POST", chat, `{"model":`},
		"chat", []string{"upstream first byte"},
		map[string]any{"laconic.outcome": "passed", "laconic.pass.reason": "invalid_json", "laconic.route": "gpt-*", "gen_ai.request.model": nil})
	f("a list of models is no operation", plain, []string{"GET", "/v1/models", ""},
		"GET /models", []string{"upstream first byte"},
		map[string]any{"gen_ai.operation.name": nil, "http.request.method": "GET", "server.address": "upstream.example"})
	f("embeddings are one", plain, []string{"POST", "/v1/embeddings", `{"model":"e"}`},
		"embeddings", []string{"upstream first byte"},
		map[string]any{"gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "openai"})
	f("an unknown path is not named", plain, []string{"POST", "/v1/private", "{}"},
		"POST", []string{"upstream first byte"},
		map[string]any{"http.request.method": "POST", "gen_ai.operation.name": nil})
	f("nor is a method", plain, []string{"BREW", "/v1/models", ""},
		"HTTP /models", nil,
		map[string]any{"http.request.method": nil})
	f("an error of the upstream", says(500, "application/json", `{"error":{"message":"no"}}`), []string{"POST", chat, agent(1, 3)},
		"chat gpt-x", all,
		map[string]any{"error.type": "500", "http.response.status_code": int64(500)})
	f("no answer", refused, []string{"POST", chat, agent(1, 3)},
		"chat gpt-x", all,
		map[string]any{"error.type": "upstream_broke", "http.response.status_code": int64(502), "gen_ai.usage.input_tokens": nil})
	f("refused by the proxy", plain, []string{"POST", chat, agent(1, 3), "Origin", "https://evil.example"},
		"chat", nil,
		map[string]any{"error.type": "origin_not_allowed", "laconic.outcome": "rejected", "server.address": nil})
}

// TestContinued: whose trace a request is in, by what its client sent.
func TestContinued(t *testing.T) {
	sent := regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[0-3])$`)
	for _, c := range []struct {
		what, sampler string
		headers       []string
		continued     bool
		state         []string // at the upstream
		exported      bool
	}{
		{"no header", "", nil, false, nil, true},
		{"a parent", "", []string{"Traceparent", clientParent}, true, nil, true},
		{"a state in two lines", "", []string{"Traceparent", clientParent, "Tracestate", "a=1", "Tracestate", "b=2"}, true, []string{"a=1,b=2"}, true},
		{"a parent that is not sampled", "", []string{"Traceparent", "00-" + clientTrace + "-" + clientSpan + "-00", "Tracestate", "a=1"}, true, []string{"a=1"}, false},
		{"a parent that is none", "", []string{"Traceparent", "00-xyz", "Tracestate", "a=1"}, false, nil, true},
		{"a state without a parent", "", []string{"Tracestate", "a=1"}, false, nil, true},
		{"a sampler that takes nothing", "always_off", []string{"Traceparent", clientParent}, true, nil, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Setenv("OTEL_TRACES_SAMPLER", c.sampler)
			u := says(200, "application/json", answered)
			got := traced(t, u, func(p *proxy.Proxy) { ask(p, "POST", "/v1/chat/completions", agent(1, 3), c.headers...) })
			h := u.last()
			if len(h["Traceparent"]) != 1 {
				t.Fatal(h)
			}
			m := sent.FindStringSubmatch(h.Get("Traceparent"))
			if m == nil || (m[1] == clientTrace) != c.continued || m[2] == clientSpan || m[3][1]&1 == 1 != c.exported {
				t.Error(h.Get("Traceparent"))
			}
			if !slices.Equal(h["Tracestate"], c.state) {
				t.Errorf("tracestate %q, want %q", h["Tracestate"], c.state)
			}
			if (len(got) > 0) != c.exported {
				t.Errorf("%d spans", len(got))
			}
			if c.exported && got.named(t, "chat gpt-x").SpanContext.SpanID().String() != m[2] {
				t.Error("the upstream was told of another span")
			}
		})
	}
}

// TestOff: without a word of the environment nothing is sent, and the client's
// headers pass as they are, broken ones too.
func TestOff(t *testing.T) {
	l := &lines{}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_SDK_DISABLED", "true")
	traces := New(l.options())
	if traces != nil || traces.StartTrace() != nil || len(l.warn)+len(l.info) > 0 {
		t.Fatal(traces, l)
	}
	u := says(200, "application/json", answered)
	p := newProxy(t, traces, u)
	ask(p, "POST", "/v1/chat/completions", agent(1, 3))
	if h := u.last(); h["Traceparent"] != nil || h["Tracestate"] != nil {
		t.Error(h)
	}
	ask(p, "POST", "/v1/chat/completions", agent(1, 3), "Traceparent", "of my own", "Tracestate", "a=1", "Tracestate", "b=2")
	if h := u.last(); h.Get("Traceparent") != "of my own" || !slices.Equal(h["Tracestate"], []string{"a=1", "b=2"}) {
		t.Error(h)
	}
	traces.Close()
}

// TestWanted: which variables turn traces on.
func TestWanted(t *testing.T) {
	for _, c := range []struct{ env, collector, problem string }{
		{"", "", ""},
		{"OTEL_SERVICE_NAME=x OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://a:1", "", ""},
		{"OTEL_TRACES_EXPORTER=otlp", "localhost:4318", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a:1", "a:1", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a:1 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://b/v1/traces", "b", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://key:secret@a:1", "a:1", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a:1 OTEL_TRACES_EXPORTER=none", "", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a:1 OTEL_SDK_DISABLED=TRUE", "", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a:1 OTEL_SDK_DISABLED=1", "a:1", ""}, // as the specification has it
		{"OTEL_TRACES_EXPORTER=console", "", "OTEL_TRACES_EXPORTER names an exporter that there is not (there are otlp and none)"},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "", "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and traces are sent by http/protobuf alone"},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", "localhost:4318", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318", "", "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL, as in http://localhost:4318"},
	} {
		env := map[string]string{}
		for _, v := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		collector, err := wanted(func(name string) string { return env[name] })
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if collector != c.collector || problem != c.problem {
			t.Errorf("%s: %q %q", c.env, collector, problem)
		}
	}
}

// TestSilentCollector: neither a request nor the end of the process waits for a
// collector that never answers.
func TestSilentCollector(t *testing.T) {
	over, hung := make(chan struct{}), make(chan struct{}, 100)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		hung <- struct{}{}
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	defer silent.Close()
	defer close(over)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", silent.URL)
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "10")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000")
	t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "3600000")
	log := &lines{}
	traces, u := New(log.options()), says(200, "application/json", answered)
	traces.closing = 10 * time.Millisecond
	p := newProxy(t, traces, u)
	ask(p, "POST", "/v1/chat/completions", agent(1, 3))
	<-hung
	for range 50 { // four spans each: more than the queue holds
		ask(p, "POST", "/v1/chat/completions", agent(1, 3))
	}
	traces.Close() // hangs if it waits
	if len(u.seen) != 51 {
		t.Error(len(u.seen))
	}
}

// TestNews: what is logged of a collector that fails and comes back.

func TestNews(t *testing.T) {
	l := &lines{}
	e := &watched{}
	_, e.warn, e.info = l.options()
	for _, err := range []error{nil, errors.New("no"), errors.New("no"), nil, nil, errors.New("no")} {
		e.note(err)
	}
	if len(l.warn) != 2 || len(l.info) != 1 {
		t.Fatalf("%q %q", l.warn, l.info)
	}
}

// TestForeignText: what a client wrote is UTF-8 in a span, and of what an upstream wrote
// there is a bounded part.
func TestForeignText(t *testing.T) {
	u := says(200, "application/json", `{"model":"`+strings.Repeat("m", 1000)+`","choices":[]}`)
	all := traced(t, u, func(p *proxy.Proxy) {
		ask(p, "POST", "/v1/chat/completions", agent(1, 3))
		ask(p, "POST", "/v1/chat/completions", agent(1, 3), "X-Laconic-Tags", "a=\xff\xfe")
	})
	if got := valuesOf(all.named(t, "chat gpt-x").Attributes); got["gen_ai.response.model"] != strings.Repeat("m", mostValue) {
		t.Error(got)
	}
	for _, s := range all {
		for key, value := range valuesOf(s.Attributes) {
			if !utf8.ValidString(fmt.Sprint(value)) {
				t.Errorf("%s is %q", key, value)
			}
		}
	}
}

// TestManual: docs/traces.md names every attribute and every span, and no other.
func TestManual(t *testing.T) {
	text := rig.ReadFile(t, "../../docs/traces.md")
	code := rig.ReadFile(t, "attributes.go")
	key := regexp.MustCompile("[\"`]((?:gen_ai|laconic|server|http|error)\\.[a-z_.]+)[\"`]")
	find := func(text []byte) (all []string) {
		for _, m := range key.FindAllSubmatch(text, -1) {
			all = append(all, string(m[1]))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if diff := cmp.Diff(find(code), find(text)); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"decode", "fold", "upstream first byte"} {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s is not described", name)
		}
	}
}
