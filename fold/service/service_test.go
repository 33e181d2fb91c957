package service

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/fold"
	"laconic/proxy/wire"
)

// small is a handler with a budget that forty rounds do not fit into.
func small() *Handler {
	return &Handler{Options: func(string) (fold.Options, bool) {
		return fold.Options{Limits: compact.Limits{Budget: 3_000}}, true
	}}
}

// post sends a body, and headers in pairs.
func post(h http.Handler, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The rounds of an agent, in the shape of each API.
var shapes = map[string]func(n int, text string) string{
	"chat": func(n int, text string) string {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d.go\"}"}}]},`+
			`{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, n, n, n, text)
	},
	"messages": func(n int, text string) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"read","input":{"path":"f%d.go"}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":"%s"}]}`, n, n, n, text)
	},
	"responses": func(n int, text string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":"call_%d","name":"read","arguments":"{\"path\":\"f%d.go\"}"},`+
			`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, n, n, n, text)
	},
}

// list returns a list of messages after some rounds.
func list(shape string, rounds int) string {
	all := []string{`{"role":"user","content":"Fix the build."}`}
	for i := range rounds {
		all = append(all, shapes[shape](i, strings.Repeat(fmt.Sprintf("line %d of a file\\n", i), 30)))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// fields are those of an answer, all of which some caller reads.
var fields = []string{
	"messages", "tokens_before", "tokens_after", "tokens_saved", "compression_ratio", "transforms_applied", "transforms_summary", "ccr_hashes",
}

// What the gateways send, by their own schemas, and what they ask of an answer: 200, a
// JSON object, a list of objects that is not empty, and no call without its result
// that had one.
func TestGatewaysGetWhatTheyExpect(t *testing.T) {
	for _, tc := range []struct{ name, call string }{
		{"LiteLLM's guardrail headroom", `{"messages":LIST,"model":"gpt-4o"}`},
		{"LiteLLM's without a model", `{"messages":LIST}`},
		{"agentgateway's raw webhook", `{"messages": LIST, "model": null}`},
		{"Portkey's plugin", `{"messages":LIST,"model":"gpt-4o","config":{"compress_user_messages":false,"target_ratio":0.5,"protect_recent":4,"protect_analysis_context":true},"token_budget":2500}`},
		{"Kong's policy", `{"model":"gpt-4o","messages":LIST,"config":{},"gateway":{"can_redrive":true,"session_affinity":false,"plugin_version":"2.2","request_headers":{}}}`},
	} {
		for shape := range shapes {
			in := list(shape, 40)
			w := post(small(), "/v1/compress", strings.Replace(tc.call, "LIST", in, 1))
			body := w.Body.String()
			if w.Code != 200 || !gjson.Valid(body) {
				t.Errorf("%s, %s: %d %.200s", tc.name, shape, w.Code, body)
				continue
			}
			var got []string
			gjson.Parse(body).ForEach(func(key, _ gjson.Result) bool { got = append(got, key.Str); return true })
			if !slices.Equal(got, fields) {
				t.Errorf("%s, %s: the fields are %v", tc.name, shape, got)
			}
			before, after := gjson.Get(body, "tokens_before").Int(), gjson.Get(body, "tokens_after").Int()
			out := gjson.Get(body, "messages")
			if wire.Detect([]byte(`{"messages":`+in+`}`)) == nil { // an API that is not read
				if out.Raw != in || gjson.Get(body, "tokens_saved").Int() != 0 || gjson.Get(body, "compression_ratio").Num != 1 {
					t.Errorf("%s, %s: it does not come back as it came", tc.name, shape)
				}
				continue
			}
			if after <= 0 || after > 3_000 || gjson.Get(body, "tokens_saved").Int() != before-after || gjson.Get(body, "transforms_applied.#").Int() == 0 {
				t.Errorf("%s, %s: %s", tc.name, shape, body[len(body)-300:])
			}
			out.ForEach(func(_, m gjson.Result) bool {
				if !m.IsObject() {
					t.Errorf("%s, %s: a message is no object", tc.name, shape)
				}
				return true
			})
			for i := range 40 {
				if n := strings.Count(out.Raw, fmt.Sprintf(`"call_%d"`, i)); n != 0 && n != 2 {
					t.Errorf("%s, %s: call %d stands there %d times", tc.name, shape, i, n)
				}
			}
		}
	}
}

// Neither a session nor a sticky route is needed.
func TestEveryReplicaGivesTheSameBytes(t *testing.T) {
	one, two := small(), small()
	post(one, "/v1/compress", `{"messages":`+list("chat", 60)+`}`) // of another conversation, or of a later turn
	last, broken := "", 0
	for n := 1; n <= 40; n++ {
		replicas := []*Handler{one, two}
		call := `{"messages":` + list("chat", n) + `,"model":"gpt-4o"}`
		a, b := post(replicas[n%2], "/v1/compress", call), post(replicas[(n+1)%2], "/v1/compress", call)
		if a.Body.String() != b.Body.String() || fmt.Sprint(a.Result().Header) != fmt.Sprint(b.Result().Header) {
			t.Fatalf("%d rounds: %.300s\n%.300s", n, a.Body, b.Body)
		}
		out := gjson.Get(a.Body.String(), "messages").Raw
		if n > 1 && !strings.HasPrefix(out, strings.TrimSuffix(last, "]")) {
			broken++
		}
		last = out
	}
	if broken < 1 || broken > 6 {
		t.Errorf("%d of 39 lists do not begin as the one before", broken)
	}
}

func TestWhatIsLeftAsItCame(t *testing.T) {
	long := list("chat", 40)
	f := func(h *Handler, path, call, want, reason string, headers ...string) {
		t.Helper()
		w := post(h, path, call, headers...)
		if w.Code != 200 || !strings.HasPrefix(w.Body.String(), want) || w.Header().Get("X-Laconic-Reason") != reason {
			t.Errorf("%.60s: %d, %q, %.200s", call, w.Code, w.Header().Get("X-Laconic-Reason"), w.Body)
		}
	}
	call := `{"model":"gpt-4o","messages":` + long + `}`
	zeros := `,"tokens_before":0,"tokens_after":0,"tokens_saved":0,"compression_ratio":1.0000,"transforms_applied":[],"transforms_summary":{},"ccr_hashes":[]}`
	f(small(), "/v1/compress", call, `{"messages":`+long+zeros, "bypassed", "X-Headroom-Bypass", "true")
	f(small(), "/compact", call, call, "bypassed", "X-Headroom-Bypass", "True") // as Python writes it
	off := &Handler{Options: func(model string) (fold.Options, bool) { return fold.Options{}, model != "gpt-4o" }}
	f(off, "/v1/compress", call, `{"messages":`+long+zeros, "bypassed")
	f(small(), "/v1/compress", `{"messages":[]}`, `{"messages":[]`+zeros, "messages_empty")
	f(small(), "/v1/compress", "\n\t { \"a\": {\"messages\":[1]}, \"messages\" : [ ] }\n", `{"messages":[ ]`+zeros, "messages_empty")
	f(small(), "/v1/compress", `{"messages":[1, 2]}`, `{"messages":[1, 2]`+zeros, "message_not_an_object")
	f(small(), "/v1/compress", `{"messages":[{"role":"king"}]}`, `{"messages":[{"role":"king"}]`+zeros, "role_unknown")
	f(small(), "/compact", `{"prompt":"x"}`, `{"prompt":"x"}`, "unknown_shape")
	f(small(), "/compact", `not JSON`, `not JSON`, "unknown_shape")
	f(small(), "/compact", ``, ``, "unknown_shape")
	f(small(), "/compact", `{"messages":[{"role":"user","content":"x"}] }`, `{"messages":[{"role":"user","content":"x"}] }`, "")
}

func TestRefused(t *testing.T) {
	f := func(path, call string, status int) {
		t.Helper()
		h := small()
		h.Limit = 1000
		w := post(h, path, call)
		if w.Code != status || gjson.Get(w.Body.String(), "error.type").Str != "invalid_request" || gjson.Get(w.Body.String(), "error.message").Str == "" {
			t.Errorf("%.50s: %d %s", call, w.Code, w.Body)
		}
	}
	f("/v1/compress", `not JSON`, 400)
	f("/v1/compress", `[]`, 400)
	f("/v1/compress", `{}`, 400)
	f("/v1/compress", `{"messages":null}`, 400)
	f("/v1/compress", strings.Repeat("[", 900), 400)
	f("/v1/compress", strings.Repeat(" ", 1001), 413)
	f("/compact", strings.Repeat(" ", 1001), 413)
	f("/v1/compress/response", `{}`, 404)
}

func TestHealth(t *testing.T) {
	w := httptest.NewRecorder()
	if new(Handler).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil)); w.Code != 200 || !gjson.Valid(w.Body.String()) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestBudgets(t *testing.T) {
	f := func(path, call string, want string, headers ...string) {
		t.Helper()
		w := post(new(Handler), path, call, headers...)
		if got := w.Header().Get("X-Laconic-Budget"); got != want {
			t.Errorf("%.60s: a budget of %s, want %s", call, got, want)
		}
	}
	one := `"messages":[{"role":"user","content":"x"}]`
	f("/v1/compress", `{`+one+`}`, "119808") // of the default window
	f("/v1/compress", `{`+one+`,"model":"gpt-4"}`, "6144")
	f("/v1/compress", `{`+one+`,"token_budget":5000}`, "5000")
	f("/v1/compress", `{`+one+`,"token_budget":5000}`, "4000", "X-Laconic-Budget", "4000")
	f("/v1/compress", `{`+one+`,"token_budget":"many"}`, "119808")
	f("/v1/compress", `{`+one+`,"token_budget":-1}`, "119808")
	f("/v1/compress", `{`+one+`,"token_budget":1e999,"model":1e999,"config":1e999}`, "119808")
	f("/compact", `{`+one+`,"max_tokens":100}`, "119808")
	f("/compact", `{`+one+`,"model":"gpt-4","max_tokens":3000}`, "5192") // nobody tries again without room for the answer
	f("/compact", `{"input":"x","model":"gpt-4","max_output_tokens":9000}`, "4096")
	f("/compact", `{`+one+`}`, "4000", "X-Laconic-Budget", "4000")
	for _, v := range []string{"all", "0", "-1", "99999999999999999999"} {
		w := post(new(Handler), "/compact", `{`+one+`}`, "X-Laconic-Budget", v)
		if w.Header().Get("X-Laconic-Ignored") != "x-laconic-budget" || w.Header().Get("X-Laconic-Budget") != "119808" {
			t.Errorf("%s: %v", v, w.Header())
		}
	}
}

// A whole body keeps all that is not a message, and its tools are counted; what a row
// says of tools is for lists alone.
func TestWholeBodies(t *testing.T) {
	h := &Handler{Options: func(string) (fold.Options, bool) {
		return fold.Options{Limits: compact.Limits{Budget: 3_000}, Overhead: 2_900}, true
	}}
	w := post(h, "/compact", `{"model":"gpt-4o", "messages":`+list("chat", 40)+`,"temperature":0.10,"seed":1e3}`)
	body, head := w.Body.String(), w.Header()
	if !strings.HasPrefix(body, `{"model":"gpt-4o", "messages":[`) || !strings.HasSuffix(body, `],"temperature":0.10,"seed":1e3}`) || head.Get("X-Laconic-Outcome") != "compacted" {
		t.Errorf("%v %.100s … %s", head, body, body[len(body)-60:])
	}
	if head.Get("X-Laconic-Tokens-Before") <= head.Get("X-Laconic-Tokens-After") || !strings.Contains(head.Get("X-Laconic-Stages"), ";n=") {
		t.Errorf("%v", head)
	}
}

// The webhook of Portkey's guardrails has the body of a request within.
func TestWebhook(t *testing.T) {
	f := func(inner, event, outcome string) gjson.Result {
		t.Helper()
		w := post(small(), "/compact", `{"request":{"json":`+inner+`,"text":"Fix the build.","isStreamingRequest":false,"isTransformed":false},`+
			`"response":{"json":{},"text":""},"provider":"openai","requestType":"chatComplete","metadata":{},"eventType":"`+event+`"}`)
		body := gjson.Parse(w.Body.String())
		if w.Code != 200 || body.Get("verdict").Type != gjson.True || w.Header().Get("X-Laconic-Outcome") != outcome {
			t.Errorf("%d %s %.200s", w.Code, w.Header().Get("X-Laconic-Outcome"), w.Body)
		}
		return body.Get("transformedData.request.json")
	}
	long := `{"model":"gpt-4o","messages":` + list("chat", 40) + `,"top_p":1}`
	if got := f(long, "beforeRequestHook", "compacted"); got.Get("top_p").Int() != 1 || got.Get("messages.#").Int() >= 81 || len(got.Raw) > len(long)/2 {
		t.Errorf("%.300s", got.Raw)
	}
	if got := f(long, "afterRequestHook", "bypassed"); got.Exists() {
		t.Errorf("%.300s", got.Raw)
	}
	if got := f(`{"messages":[{"role":"user","content":"x"}]}`, "beforeRequestHook", "untouched"); got.Exists() {
		t.Errorf("%.300s", got.Raw)
	}
}

// The time counts from the first byte of a request: a body may have been long on its
// way, or have waited for memory.
func TestTheTimeOfTheBodyCounts(t *testing.T) {
	w, h := httptest.NewRecorder(), small()
	r := httptest.NewRequest(http.MethodPost, "/v1/compress", strings.NewReader(`{"messages":`+list("chat", 40)+`}`))
	h.Serve(w, r, time.Now().Add(-Timeout), nil)
	if w.Code != 200 || w.Header().Get("X-Laconic-Reason") != "timeout" || len(h.slots) != 0 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// stuck is a stage that waits.
type stuck struct{ wait func() }

func (stuck) Name() string              { return "stuck" }
func (s stuck) Shrink(_ *compact.Draft) { s.wait() }

func handlerWith(wait func()) *Handler {
	return &Handler{Options: func(string) (fold.Options, bool) {
		return fold.Options{Limits: compact.Limits{Budget: 3_000}, Policy: &compact.Policy{Ladder: []compact.Stage{stuck{wait}}}, Counter: compact.BytesPerToken(4)}, true
	}}
}

// silent is a context that does not tell of its end.
type silent struct{ context.Context }

func (silent) Done() <-chan struct{} { return nil }

// Gateways wait for ten seconds, and some of them refuse the request then.
func TestALateAnswerIsTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, climbs := make(chan struct{}), atomic.Int64{}
		h := handlerWith(func() { climbs.Add(1); <-release })
		long := list("chat", 40)
		for range runtime.GOMAXPROCS(0) + 4 { // more than there are slots: the others wait for one
			began := time.Now()
			w := post(h, "/v1/compress", `{"messages":`+long+`}`)
			if took := time.Since(began); w.Code != 200 || took != Timeout || gjson.Get(w.Body.String(), "messages").Raw != long ||
				gjson.Get(w.Body.String(), "tokens_saved").Int() != 0 || w.Header().Get("X-Laconic-Reason") != "timeout" {
				t.Fatalf("%d after %s: %v", w.Code, took, w.Header())
			}
		}
		close(release)
		synctest.Wait()
		if n := climbs.Load(); len(h.slots) != 0 || n != int64(cap(h.slots)) {
			t.Errorf("%d slots are taken for good; %d climbs for %d bodies that nobody waits for", len(h.slots), n, cap(h.slots))
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	cut := func() ([]byte, compact.Report, error) { leave(); return nil, compact.Report{}, nil }
	if f := (&call{Handler: small()}).within(silent{ctx}, nil, cut); f.err != errLate {
		t.Errorf("what may have been cut short is sent: %+v", f)
	}
}

func TestAFaultCostsNothing(t *testing.T) {
	h, failed := handlerWith(func() { panic("broken") }), any(nil)
	h.Failed = func(v any) { failed = v }
	long := list("chat", 40)
	for range 20 {
		w := post(h, "/v1/compress", `{"messages":`+long+`}`)
		if w.Code != 200 || gjson.Get(w.Body.String(), "messages").Raw != long || w.Header().Get("X-Laconic-Reason") != "fault" || failed != "broken" {
			t.Fatalf("%d %v, %v", w.Code, w.Header(), failed)
		}
	}
}
