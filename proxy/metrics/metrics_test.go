package metrics

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/proxy"
	"laconic/proxy/apierror"
	"laconic/proxy/summarize"
	"laconic/proxy/why"
	"laconic/proxy/wire"
	"laconic/store"
)

// scraped returns every series of a page, with its value.
func scraped(t testing.TB, m *Metrics) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	all := map[string]float64{}
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			t.Fatal(line, err)
		}
		all[line[:at]] = v
	}
	return all
}

// own returns those of the proxy, without zeros.
func own(all map[string]float64) map[string]float64 {
	all = maps.Clone(all)
	maps.DeleteFunc(all, func(name string, v float64) bool { return !strings.HasPrefix(name, "laconic_") || v == 0 })
	return all
}

// answers is an upstream without a network.
type answers func(r *http.Request) *http.Response

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return f(r), nil
}

func answer(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}

const answered = `{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":900,"completion_tokens":20,"total_tokens":920,"prompt_tokens_details":{"cached_tokens":700}}}`

func options(transport http.RoundTripper) proxy.Options {
	policy := &compact.Policy{Name: "adaptive", Ladder: stage.Default()}
	base := &url.URL{Scheme: "https", Host: "upstream.example", Path: "/v1"}
	route := func(match string) *proxy.Route {
		return &proxy.Route{Match: match, Upstream: base, Policy: policy, Counter: compacttest.Words{}, Limits: compact.Limits{Budget: 1000}}
	}
	gpt := route("gpt-*")
	return proxy.Options{
		Default: *route(""), Routes: []*proxy.Route{gpt},
		RouteFor: func(model string) *proxy.Route {
			if strings.HasPrefix(model, "gpt-") {
				return gpt
			}
			return nil
		},
		Policies:  map[string]*compact.Policy{policy.Name: policy},
		Overrides: true, Transport: transport, Limits: proxy.Limits{Body: 64 << 20, Memory: 512 << 20, ResponseHeader: time.Minute, StreamIdle: time.Minute},
	}
}

// made returns metrics of a program that read its configuration so many seconds after 1970.
func made(at int64) *Metrics { return New("", "", time.Unix(at, 0), func() int { return 0 }) }

// watched returns a proxy whose requests are counted.
func watched(t testing.TB, o proxy.Options) (*Metrics, *proxy.Proxy) {
	t.Helper()
	m := made(1_000_000_000)
	o.Listener = m.Listener()
	p, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	m.Watch(p, &o)
	return m, p
}

func ask(p *proxy.Proxy, method, path, body string, headers ...string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	defer func() { _ = recover() }() // an answer that is cut
	p.ServeHTTP(httptest.NewRecorder(), r)
}

// agent returns the body of an agent's request after so many calls of some words.
func agent(model string, calls, words int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"do it"}`, model)
	for i := range calls {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"read","arguments":"{}"}}]}`+
			`,{"role":"tool","tool_call_id":"c%[1]d","content":%[2]q}`, i, strings.Repeat("word ", words))
	}
	return b.String() + "]}"
}

// TestClientsMakeNoSeries: whatever clients write, the series stay those of the
// configuration.
func TestClientsMakeNoSeries(t *testing.T) {
	m, p := watched(t, options(answers(func(r *http.Request) *http.Response {
		if strings.HasSuffix(r.URL.Path, "/models") {
			return answer(200, `{"data":[]}`)
		}
		return answer(200, answered)
	})))
	send := func(i int) {
		word := fmt.Sprintf("invented-%d", i)
		ask(p, "POST", "/v1/chat/completions", agent(word, 1, 3), "X-Laconic-Tags", "tag="+word, "Authorization", "Bearer "+word, "X-Laconic-"+word, "1")
		switch i % 10 {
		case 0:
			ask(p, "POST", "/v1/chat/completions", agent("gpt-"+word, 1, 3))
			ask(p, "POST", "/v1/chat/completions", agent("gpt-"+word, 30, 100))
		case 1:
			ask(p, "POST", "/v1/"+word, "{}")
		case 2:
			ask(p, word, "/v1/chat/completions", "{}")
			ask(p, word, "/"+word, "{}")
		case 3:
			ask(p, "POST", "/v1/chat/completions", agent(word, 1, 3), "X-Laconic-Policy", word)
		case 4:
			ask(p, "POST", "/v1/chat/completions", `{"model":"`+word+`","`+word+`":`)
			ask(p, "POST", "/v1/chat/completions", `{"model":"`+word+`","messages":[{"role":"`+word+`"}]}`)
		case 5:
			ask(p, "POST", "/v1/embeddings", `{"model":"`+word+`"}`)
			ask(p, "GET", "/v1/models/"+word, "")
		case 6:
			ask(p, "POST", "/v1/chat/completions", agent(word, 1, 3), "Origin", "http://"+word)
		}
	}
	for i := range 10 {
		send(i)
	}
	before := scraped(t, m)
	for i := range 2_000 {
		send(100 + i)
	}
	after := scraped(t, m)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[name]; !ok && !strings.HasPrefix(name, "go_") {
			t.Errorf("a new series: %s", name)
		}
		if strings.Contains(name, "invented") {
			t.Errorf("a client's word: %s", name)
		}
	}
	if n := after[`laconic_requests_total{api="chat",outcome="untouched",route="(default)",status="200"}`]; n < 1600 {
		t.Errorf("%v requests were counted", n)
	}
	t.Logf("%d series, of them %d of the proxy", len(after), len(own(after)))
}

// TestUpstreamsMakeFewSeries: nor do statuses that upstreams invent.
func TestUpstreamsMakeFewSeries(t *testing.T) {
	status := 0
	m, p := watched(t, options(answers(func(*http.Request) *http.Response { return answer(status, "{}") })))
	for status = 200; status < 1000; status++ {
		ask(p, "POST", "/v1/chat/completions", agent("m", 1, 3))
	}
	l := m.Listener()
	for i := range 5000 {
		l.Summarized(summarize.JobInfo{Reason: "status_" + strconv.Itoa(i)})
	}
	if n := len(own(scraped(t, m))); n > 800 {
		t.Errorf("%d series", n)
	}
}

func TestStatusesThatHaveNoNameAreClasses(t *testing.T) {
	f := func(code int, want string) {
		t.Helper()
		if got := statusLabel(code); got != want {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
	f(200, "200")
	f(429, "429")
	f(499, "499")
	f(529, "529")
	f(299, "2xx")
	f(477, "4xx")
	f(599, "5xx")
	f(0, "other")
	f(777, "other")
}

// TestWhatRequestsCount: each request in its series, and in no other.
func TestWhatRequestsCount(t *testing.T) {
	chat := func(o proxy.Outcome, change func(*proxy.ReplyInfo)) proxy.ReplyInfo {
		i := proxy.ReplyInfo{
			Wire: "chat", Endpoint: "/chat/completions", Outcome: o, Status: 200, Duration: time.Second, FirstByte: time.Second, Route: "gpt-*",
			Rewrite: &proxy.RewriteInfo{Policy: "adaptive", Outcome: o, Overhead: 70 * time.Microsecond, Report: compact.Report{Before: 100, After: 100}},
		}
		if change != nil {
			change(&i)
		}
		return i
	}
	compacted := func(i *proxy.ReplyInfo) {
		i.Rewrite.Report = compact.Report{
			Before: 100, After: 40, Epochs: 2, Strategy: "squeeze", ResultsDropped: 1,
			Stages: []compact.StageReport{{Name: "summarize", Edits: 2, Saved: 50}, {Name: "squeeze", Edits: 1, Saved: -3}},
		}
		i.Rewrite.NewEpoch = true
		i.Usage = &wire.Usage{Prompt: 42, Cached: 30, Completion: 7}
	}
	done := []string{ // of a request that was compacted
		"epochs_total{policy=\"adaptive\"} 1", "prefix_breaks_total{reason=\"epoch\"} 1", "results_dropped_total 1",
		"compactions_total{policy=\"adaptive\",stage=\"squeeze\"} 1",
		"stage_edits_total{policy=\"adaptive\",stage=\"summarize\"} 2", "stage_edits_total{policy=\"adaptive\",stage=\"squeeze\"} 1",
		"stage_saved_tokens_total{policy=\"adaptive\",stage=\"summarize\"} 50",
	}
	tokens := func(outcome string, before, after, sent int) (list []string) {
		for _, c := range []struct {
			name string
			n    int
		}{{"before", before}, {"after", after}, {"sent", sent}} {
			if c.n > 0 {
				list = append(list, fmt.Sprintf("tokens_%s_total{outcome=%q,route=\"gpt-*\"} %d", c.name, outcome, c.n))
			}
		}
		return list
	}
	request := func(route, outcome string, status int) string {
		api := map[string]string{"gpt-*": "chat"}[route]
		return fmt.Sprintf("requests_total{api=%q,outcome=%q,route=%q,status=\"%d\"} 1", api, outcome, route, status)
	}
	usage := func(outcome string) []string {
		return []string{
			fmt.Sprintf("upstream_prompt_tokens_total{outcome=%q,route=\"gpt-*\"} 42", outcome),
			fmt.Sprintf("upstream_cached_tokens_total{outcome=%q,route=\"gpt-*\"} 30", outcome),
			fmt.Sprintf("upstream_completion_tokens_total{outcome=%q,route=\"gpt-*\"} 7", outcome),
		}
	}
	f := func(name string, info proxy.ReplyInfo, want []string) {
		t.Helper()
		m := made(0)
		before := scraped(t, m)
		m.Listener().Replied(info)
		var got []string
		for name, v := range own(scraped(t, m)) {
			if v != before[name] && !strings.Contains(name, "_seconds") {
				got = append(got, fmt.Sprintf("%s %v", strings.TrimPrefix(name, "laconic_"), v))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	f("untouched", chat(proxy.Untouched, nil), append(tokens("untouched", 100, 100, 100), request("gpt-*", "untouched", 200)))
	f("compacted", chat(proxy.Compacted, compacted), slices.Concat(done, tokens("compacted", 100, 40, 40), usage("compacted"), []string{request("gpt-*", "compacted", 200)}))
	f("shadow: only measured", chat(proxy.Shadow, compacted),
		slices.Concat(tokens("shadow", 100, 40, 100), usage("shadow"), []string{request("gpt-*", "shadow", 200)}))
	f("rejected: nothing is sent", chat(proxy.Rejected, func(i *proxy.ReplyInfo) {
		compacted(i)
		i.Status, i.Own, i.Usage, i.FirstByte, i.Code = 400, true, nil, 0, "context_length_exceeded"
	}), append(tokens("rejected", 100, 40, 0), request("gpt-*", "rejected", 400), `errors_total{code="context_length_exceeded"} 1`))
	f("unreachable: nothing is sent, so nothing is saved", chat(proxy.Compacted, func(i *proxy.ReplyInfo) {
		compacted(i)
		i.Status, i.Own, i.Code, i.Usage, i.FirstByte, i.Unsent = 502, true, apierror.CodeUnreachable, nil, 0, true
	}), []string{request("gpt-*", "compacted", 502), `errors_total{code="upstream_unreachable"} 1`})
	f("retried: two bodies", chat(proxy.Retried, func(i *proxy.ReplyInfo) {
		i.Rewrite.Report.After = 30
		i.Retry = &proxy.RetryInfo{Refusal: why.Refusal{Reason: "overflow", Sent: true, Answered: true, First: 100, Second: 30}}
	}), append(tokens("retried", 100, 30, 130), request("gpt-*", "retried", 200), `refusals_total{reason="overflow",second_send="answered"} 1`, `prefix_breaks_total{reason="retry"} 1`))
	f("refused again", chat(proxy.Refused, func(i *proxy.ReplyInfo) {
		i.Status, i.Retry = 400, &proxy.RetryInfo{Refusal: why.Refusal{Reason: "template", Sent: true, First: 100, Second: 90}}
	}), append(tokens("refused", 100, 100, 190), request("gpt-*", "refused", 400), `refusals_total{reason="template",second_send="refused"} 1`, `prefix_breaks_total{reason="retry"} 1`))
	f("not sent again", chat(proxy.Untouched, func(i *proxy.ReplyInfo) {
		i.Status, i.Retry = 400, &proxy.RetryInfo{Refusal: why.Refusal{Reason: "overflow", First: 100}, Why: "late"}
	}), append(tokens("untouched", 100, 100, 100), request("gpt-*", "untouched", 400), `refusals_total{reason="overflow",second_send="late"} 1`))
	f("truncated and cut", chat(proxy.Untouched, func(i *proxy.ReplyInfo) { i.Ended, i.Cut = wire.WithoutDone, true }), append(
		tokens("untouched", 100, 100, 100), request("gpt-*", "untouched", 200), `truncated_answers_total{ended="without_done"} 1`, `cut_prompts_total 1`))
	f("a slot", chat(proxy.Untouched, func(i *proxy.ReplyInfo) {
		i.Rewrite.Summary = &summarize.Info{Outcome: summarize.Digest, Reason: "preparing", Model: "m"}
	}), append(tokens("untouched", 100, 100, 100), request("gpt-*", "untouched", 200), `slots_total{reason="preparing",text="digest"} 1`))
	f("an agent's own compaction", chat(proxy.Over, func(i *proxy.ReplyInfo) { i.Rewrite.Kind = "compaction of codex" }), append(
		tokens("over", 100, 100, 100), request("gpt-*", "over", 200), `requests_by_kind_total{kind="compaction of codex",outcome="over"} 1`))
	f("unread", proxy.ReplyInfo{Endpoint: "", Outcome: proxy.Passed, Status: 200, Passed: "route"},
		[]string{request("(default)", "passed", 200), `passed_total{endpoint="other",reason="route"} 1`})
	f("refused at the door", proxy.ReplyInfo{Outcome: proxy.Rejected, Status: 401, Own: true, Code: "invalid_api_key"},
		[]string{request("(none)", "rejected", 401), `errors_total{code="invalid_api_key"} 1`})
}

// TestAConversationThroughTheProxy: what a growing conversation leaves in the
// counts is what its requests were.
func TestAConversationThroughTheProxy(t *testing.T) {
	m, p := watched(t, options(answers(func(*http.Request) *http.Response { return answer(200, answered) })))
	for n := 1; n <= 30; n++ {
		ask(p, "POST", "/v1/chat/completions", agent("gpt-x", n, 100))
	}
	ask(p, "POST", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"tool","tool_call_id":"c1","content":"late"},{"role":"user","content":"go on"}]}`)
	got := scraped(t, m)
	f := func(name string, want float64) {
		t.Helper()
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	epochs := got[`laconic_epochs_total{policy="adaptive"}`]
	if epochs < 2 || epochs > 10 {
		t.Errorf("%v epochs", epochs)
	}
	f(`laconic_prefix_breaks_total{reason="epoch"}`, epochs)
	untouched, compacted := got[`laconic_requests_total{api="chat",outcome="untouched",route="gpt-*",status="200"}`], got[`laconic_requests_total{api="chat",outcome="compacted",route="gpt-*",status="200"}`]
	if untouched == 0 || compacted < 10 || untouched+compacted != 30 {
		t.Errorf("%v untouched, %v compacted", untouched, compacted)
	}
	f(`laconic_upstream_cached_tokens_total{outcome="compacted",route="gpt-*"}`, 700*compacted)
	f(`laconic_upstream_prompt_tokens_total{outcome="compacted",route="gpt-*"}`, 900*compacted)
	f(`laconic_overhead_seconds_count{route="gpt-*"}`, 31)
	f(`laconic_repairs_total{kind="drop_result"}`, 1)
	f(`laconic_results_dropped_total`, 1)
	f(`laconic_upstream_up{upstream="https://upstream.example"}`, 1)
	f(`laconic_route_info{mode="on",policy="adaptive",route="gpt-*",upstream="https://upstream.example"}`, 1)
	f(`laconic_requests_serving`, 0)
	f(`laconic_body_memory_limit_bytes`, 512<<20)
	f(`laconic_config_last_reload_successful`, 1)
	if before, sent := got[`laconic_tokens_before_total{outcome="compacted",route="gpt-*"}`], got[`laconic_tokens_sent_total{outcome="compacted",route="gpt-*"}`]; sent == 0 || sent > before {
		t.Errorf("%v tokens before, %v sent", before, sent)
	}
	m.Reloaded(false, time.Unix(1_000_000_100, 0))
	got = scraped(t, m)
	f(`laconic_config_last_reload_successful`, 0)
	f(`laconic_config_last_reload_success_timestamp_seconds`, 1_000_000_000)
	m.Reloaded(true, time.Unix(1_000_000_200, 0))
	got = scraped(t, m)
	f(`laconic_config_last_reload_successful`, 1)
	f(`laconic_config_last_reload_success_timestamp_seconds`, 1_000_000_200)
}

// TestASharedStoreIsShown: whether it answers, what it refuses, what it was asked. One
// that nobody shares is not.
func TestASharedStoreIsShown(t *testing.T) {
	m, _ := watched(t, options(answers(func(*http.Request) *http.Response { return answer(200, answered) })))
	var now store.State
	m.WatchStore(func() store.State { return now })
	for name := range scraped(t, m) {
		if strings.HasPrefix(name, "laconic_store_") {
			t.Errorf("nobody shares a store, and there is %s", name)
		}
	}
	now = store.State{
		Silent: true, Refuses: map[string]bool{"put": true, "get": false},
		Operations: map[string]uint64{"put": 5}, Failed: map[string]uint64{"put": 2},
	}
	got := scraped(t, m)
	f := func(name string, want float64) {
		t.Helper()
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, %v; want %v", name, v, ok, want)
		}
	}
	f(`laconic_store_up`, 0)
	f(`laconic_store_refuses{operation="put"}`, 1)
	f(`laconic_store_refuses{operation="get"}`, 0)
	f(`laconic_store_operations_total{operation="put"}`, 5)
	f(`laconic_store_failed_operations_total{operation="put"}`, 2)
	now.Silent = false
	got = scraped(t, m)
	f(`laconic_store_up`, 1)
}
