package tracing

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"laconic/proxy"
)

// TestSpanOfAChat: what a collector gets of one request, and the upstream of it.
func TestSpanOfAChat(t *testing.T) {
	u := says(200, "application/json", answered)
	var id16 string
	c, l := traced(t, u, func(p *proxy.Proxy) {
		id16 = ask(p, "POST", "/v1/chat/completions?key=private", agent(30, 100), "Authorization", "Bearer private",
			"Traceparent", clientParent, "Tracestate", "a=1,b=2", "Baggage", "user=x", "X-Laconic-Tags", "team=blue").Get("X-Laconic-Request-Id")
	})
	if w := l.warnings(); len(w) > 0 {
		t.Error(w)
	}
	if got, want := c.names(), []string{"chat gpt-x", spanDecode, spanFold, spanFirstByte}; !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	root := c.named(t, "chat gpt-x")
	if root.Kind != tracepb.Span_SPAN_KIND_CLIENT || root.Status.GetCode() != tracepb.Status_STATUS_CODE_UNSET || id(root.TraceId) != clientTrace || id(root.ParentSpanId) != clientSpan {
		t.Error(root)
	}
	for _, s := range c.spans {
		if s == root {
			continue
		}
		if s.Kind != tracepb.Span_SPAN_KIND_INTERNAL || id(s.TraceId) != clientTrace || id(s.ParentSpanId) != id(root.SpanId) || len(s.Attributes) > 0 {
			t.Error(s)
		}
		if at(s.StartTimeUnixNano).Before(at(root.StartTimeUnixNano)) || at(s.EndTimeUnixNano).After(at(root.EndTimeUnixNano)) || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s: from %v to %v in %v to %v", s.Name, at(s.StartTimeUnixNano), at(s.EndTimeUnixNano), at(root.StartTimeUnixNano), at(root.EndTimeUnixNano))
		}
	}
	if d, f := c.named(t, spanDecode), c.named(t, spanFold); d.EndTimeUnixNano != f.StartTimeUnixNano {
		t.Error("the fold does not begin where the decoding ends")
	}
	h := u.last()
	want := []string{"00-" + clientTrace + "-" + id(root.SpanId) + "-01"}
	if !slices.Equal(h["Traceparent"], want) || !slices.Equal(h["Tracestate"], []string{"a=1,b=2"}) || h.Get("Baggage") != "user=x" {
		t.Error(h)
	}
	got := valuesOf(root.Attributes)
	before, after, epochs, stages := got["laconic.tokens.before"], got["laconic.tokens.after"], got["laconic.epochs"], got["laconic.stages"]
	if before.(int) < 3000 || after.(int) > 1000 || after.(int) == 0 || epochs.(int) == 0 || !strings.Contains(stages.(string), "summarize") {
		t.Error(got)
	}
	diff := cmp.Diff(map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
		"gen_ai.request.model": "gpt-x", "gen_ai.request.stream": false, "gen_ai.response.model": "gpt-x-2026",
		"gen_ai.usage.input_tokens": 900, "gen_ai.usage.output_tokens": 20, "gen_ai.usage.cache_read.input_tokens": 700,
		"gen_ai.conversation.compacted": true,
		"server.address":                "upstream.example", "server.port": 443, "http.request.method": "POST", "http.response.status_code": 200,
		"laconic.request.id": id16, "laconic.outcome": "compacted", "laconic.route": "gpt-*", "laconic.policy": "adaptive", "laconic.tags": "team=blue",
		"laconic.tokens.before": before, "laconic.tokens.after": after, "laconic.budget": 1000, "laconic.repairs": 0,
		"laconic.epochs": epochs, "laconic.epoch.new": got["laconic.epoch.new"], "laconic.stages": stages,
	}, got)
	if diff != "" || id16 == "" {
		t.Error(diff)
	}
	if strings.Contains(string(c.raw), "private") {
		t.Error("content was sent to the collector")
	}
	if c.resource["service.name"] != "laconic" || c.resource["service.version"] != "v1.2.3" || c.resource["telemetry.sdk.language"] != "go" {
		t.Error(c.resource)
	}
	if c.requests != 1 {
		t.Errorf("%d requests to the collector", c.requests)
	}
}

// TestEverySpan: of each way that a request may go, its span, and those below it.
func TestEverySpan(t *testing.T) {
	plain, chat := says(200, "application/json", answered), "/v1/chat/completions"
	refused := &upstream{answer: func(*http.Request) (*http.Response, error) { return nil, errors.New("no connection") }}
	all := []string{spanDecode, spanFold, spanFirstByte}
	for _, c := range []struct {
		what string
		u    *upstream
		send func(*proxy.Proxy)

		name  string
		below []string
		want  map[string]any // nil: not there
	}{
		{
			"a short one is untouched", plain, func(p *proxy.Proxy) { ask(p, "POST", chat, agent(1, 3)) },
			"chat gpt-x", all,
			map[string]any{"laconic.outcome": "untouched", "gen_ai.conversation.compacted": false, "laconic.stages": nil, "error.type": nil},
		},
		{
			"a stream names the model in its last event",
			says(200, "text/event-stream", "data: {\"model\":\"a\",\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"model\":\"b\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n"),
			func(p *proxy.Proxy) {
				ask(p, "POST", chat, strings.Replace(agent(1, 3), "{", `{"stream":true,`, 1))
			},
			"chat gpt-x", all,
			map[string]any{"gen_ai.response.model": "b", "gen_ai.request.stream": true, "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 1},
		},
		{
			"a shadow is not compacted", plain, func(p *proxy.Proxy) { ask(p, "POST", chat, agent(30, 100), "X-Laconic-Mode", "shadow") },
			"chat gpt-x", all,
			map[string]any{"laconic.outcome": "shadow", "gen_ai.conversation.compacted": false},
		},
		{
			"what cannot be read passes", plain, func(p *proxy.Proxy) { ask(p, "POST", chat, `{"model":`) },
			"chat",
			[]string{spanFirstByte},
			map[string]any{"laconic.outcome": "passed", "laconic.pass.reason": "invalid_json", "laconic.route": "gpt-*", "gen_ai.request.model": nil},
		},
		{
			"a list of models is no operation", plain, func(p *proxy.Proxy) { ask(p, "GET", "/v1/models", "") },
			"GET /models",
			[]string{spanFirstByte},
			map[string]any{"gen_ai.operation.name": nil, "http.request.method": "GET", "server.address": "upstream.example"},
		},
		{
			"embeddings are one", plain, func(p *proxy.Proxy) { ask(p, "POST", "/v1/embeddings", `{"model":"e"}`) },
			"embeddings",
			[]string{spanFirstByte},
			map[string]any{"gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "openai"},
		},
		{
			"an unknown path is not named", plain, func(p *proxy.Proxy) { ask(p, "POST", "/v1/private", "{}") },
			"POST",
			[]string{spanFirstByte},
			map[string]any{"http.request.method": "POST", "gen_ai.operation.name": nil},
		},
		{
			"nor is a method", plain, func(p *proxy.Proxy) { ask(p, "BREW", "/v1/models", "") },
			"HTTP /models", nil,
			map[string]any{"http.request.method": nil},
		},
		{
			"an error of the upstream", says(500, "application/json", `{"error":{"message":"no"}}`), func(p *proxy.Proxy) { ask(p, "POST", chat, agent(1, 3)) },
			"chat gpt-x", all,
			map[string]any{"error.type": "500", "http.response.status_code": 500},
		},
		{
			"no answer", refused, func(p *proxy.Proxy) { ask(p, "POST", chat, agent(1, 3)) },
			"chat gpt-x", all,
			map[string]any{"error.type": "upstream_broke", "http.response.status_code": 502, "gen_ai.usage.input_tokens": nil},
		},
		{
			"refused by the proxy", plain, func(p *proxy.Proxy) { ask(p, "POST", chat, agent(1, 3), "Origin", "https://evil.example") },
			"chat", nil,
			map[string]any{"error.type": "origin_not_allowed", "laconic.outcome": "rejected", "server.address": nil},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, _ := traced(t, c.u, c.send)
			root := got.named(t, c.name)
			attributes := valuesOf(root.Attributes)
			for key, want := range c.want {
				if v, there := attributes[key]; v != want || there != (want != nil) {
					t.Errorf("%s is %v, want %v", key, v, want)
				}
			}
			failed := attributes["error.type"] != nil
			if (root.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR) != failed {
				t.Error(root.Status)
			}
			names := append([]string{c.name}, c.below...)
			slices.Sort(names)
			if !slices.Equal(got.names(), names) {
				t.Errorf("%q", got.names())
			}
			for _, s := range got.spans {
				if s.Name == spanFirstByte && (s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR) != (c.u == refused) {
					t.Error(s)
				}
			}
		})
	}
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
			got, _ := traced(t, u, func(p *proxy.Proxy) { ask(p, "POST", "/v1/chat/completions", agent(1, 3), c.headers...) })
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
			if (got.requests > 0) != c.exported {
				t.Errorf("%d requests to the collector", got.requests)
			}
			if c.exported && id(got.named(t, "chat gpt-x").SpanId) != m[2] {
				t.Error("the upstream was told of another span")
			}
		})
	}
}

// TestOff: without a word of the environment nothing is sent, and the client's
// headers pass as they are, broken ones too.
func TestOff(t *testing.T) {
	c, l := newCollector(t), &lines{}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_SDK_DISABLED", "true")
	traces := New(l.options())
	if traces != nil || traces.StartSpan() != nil || len(l.warn)+len(l.info) > 0 {
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
	if c.requests > 0 {
		t.Error("sent")
	}
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
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "", "OTEL_EXPORTER_OTLP_PROTOCOL names a protocol that there is not (there are http/protobuf and http/json)"},
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

// TestEnvironment: who sends, and in which words, is for the environment to say.
func TestEnvironment(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "front")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	c, _ := traced(t, says(200, "application/json", answered), func(p *proxy.Proxy) { ask(p, "GET", "/v1/models", "") })
	if c.resource["service.name"] != "front" || c.resource["deployment.environment.name"] != "test" || c.resource["service.version"] != "v1.2.3" {
		t.Error(c.resource)
	}
}

// TestDeadCollector: requests go on, and one warning says that nobody is there.
func TestDeadCollector(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	_ = l.Close()
	log := &lines{}
	traces, u := New(log.options()), says(200, "application/json", answered)
	p := newProxy(t, traces, u)
	for range 50 {
		ask(p, "POST", "/v1/chat/completions", agent(1, 3))
	}
	traces.Close()
	if w := log.warnings(); len(w) != 1 || !strings.Contains(w[0], "the collector does not take traces") {
		t.Errorf("%q", w)
	}
	if len(u.seen) != 50 {
		t.Error(len(u.seen))
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
	e := &watched{o: l.options()}
	no := errors.New("no")
	now := time.Unix(1_000_000_000, 0)
	for _, c := range []struct {
		after      time.Duration
		err        error
		warn, info int // lines so far
	}{
		{0, nil, 0, 0},
		{time.Second, no, 1, 0},
		{time.Hour, no, 1, 0},
		{time.Second, nil, 1, 1},
		{time.Second, nil, 1, 1},
		{between, no, 2, 1},
		{time.Second, nil, 2, 2},
		{time.Second, no, 2, 2},
		{time.Second, nil, 2, 2},
		{between, no, 3, 2},
	} {
		now = now.Add(c.after)
		e.note(c.err, now)
		if len(l.warn) != c.warn || len(l.info) != c.info {
			t.Fatalf("%v: %q %q", c, l.warn, l.info)
		}
	}
}

// TestComplaints: what the SDK cannot read is named once, and never shown.
func TestComplaints(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer secret%zz")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")
	c, l := traced(t, says(200, "application/json", answered), func(p *proxy.Proxy) { ask(p, "GET", "/v1/models", "") })
	all := strings.Join(l.warnings(), "\n")
	if !strings.Contains(all, "header") || !strings.Contains(all, "duration") || strings.Contains(all, "secret") {
		t.Errorf("%q", all)
	}
	if c.requests != 1 {
		t.Error("nothing was sent")
	}
}

// TestInvalidText: what a client wrote as UTF-8 that is none does not cost a batch.
func TestInvalidText(t *testing.T) {
	c, l := traced(t, says(200, "application/json", answered), func(p *proxy.Proxy) {
		ask(p, "POST", "/v1/chat/completions", agent(1, 3), "X-Laconic-Tags", "a=\xff\xfe")
	})
	if c.requests != 1 || len(l.warnings()) > 0 {
		t.Error(c.requests, l.warnings())
	}
}

// TestLongText: of what an upstream wrote, a bounded part is sent.
func TestLongText(t *testing.T) {
	u := says(200, "application/json", `{"model":"`+strings.Repeat("m", 1000)+`","choices":[]}`)
	c, _ := traced(t, u, func(p *proxy.Proxy) { ask(p, "POST", "/v1/chat/completions", agent(1, 3)) })
	if model := valuesOf(c.named(t, "chat gpt-x").Attributes)["gen_ai.response.model"]; model != strings.Repeat("m", mostValue) {
		t.Error(model)
	}
}

// TestManual: docs/traces.md names every attribute and every span, and no other.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/traces.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("attributes.go")
	if err != nil {
		t.Fatal(err)
	}
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
	for _, name := range []string{spanDecode, spanFold, spanFirstByte} {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s is not described", name)
		}
	}
}
