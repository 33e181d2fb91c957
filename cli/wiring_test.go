package cli

import (
	stdcmp "cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"laconic/compact"
	"laconic/config"
	"laconic/config/configtest"
	"laconic/counting"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/proxy/summarize"
	"laconic/store"
	"laconic/tokenize"
)

// proxyFor returns a proxy with a valid configuration, and its options.
func proxyFor(t *testing.T, c *config.Config) (*proxy.Proxy, proxy.Options) {
	t.Helper()
	o := proxyOptions(c)
	if o.Summarizer != nil {
		o.Store = must(store.Open(storeOptions(c, func(line string) { t.Error(line) })))
		t.Cleanup(o.Store.Close)
	}
	p, err := proxy.New(o)
	if err != nil {
		t.Fatalf("the proxy refuses what check takes: %v", err)
	}
	return p, o
}

// optionsFor returns the options of a valid configuration, as the proxy takes them.
func optionsFor(t *testing.T, src string) proxy.Options {
	t.Helper()
	_, o := proxyFor(t, parsed(t, src, configtest.Variable))
	return o
}

func TestTheFirstRowThatMatchesIsTheRoute(t *testing.T) {
	o := optionsFor(t, `
default_window: 9000
models:
  - {match: "gpt-4o-mini", window: 5000, tokenizer: bytes/4, policy: gentle}
  - {match: "gpt-*", reserve: 1000}
  - {match: "claude-*", upstream: "https://other.example/v1/", api_key: ${KEY}}
  - {match: "local/*", upstream: "http://127.0.0.1:11434/v1", credential: client, budget: 700, max_messages: 9}
policies: {gentle: {land: 0.5}}
`)
	f := func(model, match, upstream string, limits compact.Limits, policy, tokenizer string) *proxy.Route {
		t.Helper()
		r := o.RouteFor(model)
		if r.Match != match || r.Upstream.String() != upstream || r.Limits != limits || r.Policy.Name != policy {
			t.Errorf("%s: got %q %s %+v %s", model, r.Match, r.Upstream, r.Limits, r.Policy.Name)
		}
		if got := r.Counter.(*counting.Counter).Tokenizer().Name(); got != stdcmp.Or(tokenizer, tokenize.For(model).Name()) {
			t.Errorf("%s: counted by %q", model, got)
		}
		if o.RouteFor(model) != r || o.Policies[policy] != r.Policy {
			t.Errorf("%s: made anew for each request", model)
		}
		return r
	}
	const openai = "https://api.openai.com/v1"
	known, input, ok := tokenize.Window("gpt-4o")
	if !ok {
		t.Fatal("the table does not know gpt-4o")
	}
	f("gpt-4o-mini", "gpt-4o-mini", openai, compact.Limits{Window: 5000}, "gentle", "bytes/4")
	f("gpt-4o", "gpt-*", openai, compact.Limits{Window: known, Input: input, Reserve: 1000}, "adaptive", "")
	f("nobody", "", openai, compact.Limits{Window: 9000}, "adaptive", "")
	r := f("local/x", "local/*", "http://127.0.0.1:11434/v1", compact.Limits{Window: 9000, Budget: 700, MaxMessages: 9}, "adaptive", "")
	if !r.ClientCredential || r.Key != "" {
		t.Error("credential: client is ignored")
	}
	r = o.RouteFor("claude-x")
	if string(r.Key) != "canary-from-env" || r.ClientCredential || r.Upstream.String() != "https://other.example/v1" {
		t.Errorf("the key of a row: %+v", r)
	}
	if r := o.RouteFor("gpt-4o"); !r.ClientCredential || r.Key != "" {
		t.Error("the client's credential does not go to the default upstream")
	}
	if o.Policies["gentle"].Land != 0.5 || o.Policies["none"] != nil {
		t.Error("policies are not found by name")
	}
	if o.Default.Match != "" || o.Default.Upstream.String() != openai || o.Default.Limits.Window != 9000 {
		t.Errorf("the default route: %+v", o.Default)
	}
	if len(o.Routes) != 5 {
		t.Errorf("%d routes are listed", len(o.Routes))
	}
}

func TestARequestWithoutAModelTakesTheRowForAll(t *testing.T) {
	o := optionsFor(t, `
models:
  - {match: "gpt-*", api_key: canary-2}
  - {match: "*", upstream: "http://127.0.0.1:8000/v1", api_key: ${KEY}}
client_keys: [canary-0123456789]
`)
	if o.Default.Match != "*" || o.Default.Upstream.Host != "127.0.0.1:8000" || string(o.Default.Key) != "canary-from-env" {
		t.Errorf("got %+v", o.Default)
	}
	if len(o.Routes) != 2 || o.Routes[1].Match != "*" {
		t.Errorf("there is a route that nothing can take: %+v", o.Routes)
	}
	if len(o.ClientKeys) != 1 || string(o.ClientKeys[0].Key) != "canary-0123456789" {
		t.Error("the client keys are lost")
	}
}

func TestEverySettingReachesTheProxy(t *testing.T) {
	o := optionsFor(t, `
listen: 0.0.0.0:9000
overrides: true
response_headers: false
strict: true
allowed_origins: ["https://app.example"]
limits: {body: 2KiB, memory: 3KiB, connections_per_address: 7, heads_per_address: 8, header_timeout: 1s, response_header_timeout: 2s, stream_idle: 3s, drain: 5s, shutdown: 4s}
`)
	want := proxy.Limits{Body: 2048, Memory: 3072, Connections: 7, Heads: 8, Header: 1e9, ResponseHeader: 2e9, StreamIdle: 3e9, Drain: 5e9, Shutdown: 4e9}
	if o.Listen != "0.0.0.0:9000" || !o.Overrides || o.ResponseHeaders || !o.Strict ||
		!slices.Equal(o.AllowedOrigins, []string{"https://app.example"}) || o.Limits != want {
		t.Errorf("got %+v", o)
	}
	for listen, want := range map[string]time.Duration{"127.0.0.1:9000": 0, "localhost:9000": 0, "0.0.0.0:9000": 5 * time.Second} {
		if o = optionsFor(t, "listen: "+listen); o.Limits.Drain != want {
			t.Errorf("%s drains for %v", listen, o.Limits.Drain)
		}
	}
	o = optionsFor(t, `
default_window: 5000
summarizer: {model: m, upstream: "http://10.0.0.7:1/v1/", api_key: k, wait: 1s, timeout: 2s, window: 5000, mask: false}`)
	s := *o.Summarizer
	if want := (summarize.Options{
		Upstream: s.Upstream, Counter: s.Counter,
		Model: "m", Key: "k", Wait: 1e9, WaitUnfolded: 1e9, Timeout: 2e9, Window: 5000,
	}); s != want || s.Upstream.String() != "http://10.0.0.7:1/v1" {
		t.Errorf("got %+v at %v", s, s.Upstream)
	}
	for text, window := range map[string]int{"{model: m, credential: client}": 5000, "{model: gpt-4o-mini}": 128000} {
		s := optionsFor(t, "default_window: 5000\nsummarizer: "+text).Summarizer
		if s.Window != window || s.Wait != 0 || s.WaitUnfolded != summarize.DefaultUnfoldedWait || s.Upstream.String() != "https://api.openai.com/v1" || !s.Mask || s.ClientCredential == (s.Model != "m") {
			t.Errorf("%s: %+v", text, s)
		}
	}
	if o := optionsFor(t, "store: {kind: memory}"); o.Summarizer != nil {
		t.Error("a store alone makes a summarizer")
	}
	if o := optionsFor(t, "listen: 0.0.0.0:9000"); o.Overrides || !o.ResponseHeaders || o.Strict {
		t.Error("overrides are on where other machines can send them")
	}
}

func TestAConfiguredWindowBeatsTheTable(t *testing.T) {
	window, input, ok := tokenize.Window("gpt-5")
	if !ok || input == 0 {
		t.Fatalf("the table says %d, %d of gpt-5", window, input)
	}
	f := func(row compact.Limits, wantWindow, wantInput int) {
		t.Helper()
		if got := counting.Limits(row, "gpt-5", 9000); got.Window != wantWindow || got.Input != wantInput {
			t.Errorf("%+v: got %+v", row, got)
		}
	}
	f(compact.Limits{}, window, input)
	f(compact.Limits{Window: 50_000}, 50_000, 0)
	f(compact.Limits{Window: window}, window, input)
	f(compact.Limits{Input: 1000}, window, 1000)
}

func TestRoutesOfInventedModelsAreBounded(t *testing.T) {
	c := config.Default()
	policies := buildPolicies(c)
	table := routes(c, policies)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 3000 {
				if r := table.route(fmt.Sprintf("model-%d-%d", g, i)); r == nil {
					t.Error("no route")
				}
			}
			table.route(strings.Repeat("x", 1<<20))
		})
	}
	wg.Wait()
	table.known.CleanUp()
	if n := table.known.EstimatedSize(); n > mostRoutes {
		t.Errorf("%d routes are remembered", n)
	}
	for name := range table.known.All() {
		if len(name) > longestKnown {
			t.Errorf("a name of %d bytes is remembered", len(name))
		}
	}
}

// The loader refuses such rows; should one get through, no credential leaves.
func TestTheClientsKeyGoesWhereItWasMeant(t *testing.T) {
	f := func(row config.Model, clientKeys []access.Secret, want bool) {
		t.Helper()
		c := config.Default()
		c.Models, c.ClientKeys = []config.Model{row}, clientKeys
		o := proxyOptions(c)
		if got := o.RouteFor("m").ClientCredential; got != want {
			t.Errorf("%+v: the client's credential is sent: %v", row, got)
		}
	}
	const other = "https://other.example/v1"
	f(config.Model{Match: "m"}, nil, true)
	f(config.Model{Match: "m", Upstream: "https://API.openai.com:443/v2"}, nil, true)
	f(config.Model{Match: "m", Upstream: other}, nil, false)
	f(config.Model{Match: "m", Upstream: other, Credential: "client"}, nil, true)
	f(config.Model{Match: "m", Upstream: other, APIKey: "k"}, nil, false)
	f(config.Model{Match: "m"}, []access.Secret{"k"}, false)
}

func TestANewPolicyIsAFormOfAdaptive(t *testing.T) {
	o := optionsFor(t, `
policies:
  a: {land: 0.3, repair: drop, on_overflow: reject, ladder: [drop_oldest], pin: {roles: [tool], text: ["^RULE"], tools: [read]}}
  adaptive: {trigger: 0.7, keep_recent: {exchanges: 3}}
`)
	a := o.Policies["a"]
	if a.Trigger != 0.7 || a.Land != 0.3 || !a.Reject || a.Repair != compact.RepairDrop || a.KeepRecent.Exchanges != 3 ||
		a.KeepRecent.Share != compact.DefaultKeepShare || len(a.Ladder) != 1 || a.Ladder[0].Name() != "drop_oldest" ||
		!slices.Equal(a.Pins.Roles, []string{"tool"}) || len(a.Pins.Text) != 1 || len(a.Pins.Tools) != 1 || !a.Pins.Tools[0].MatchString("read") {
		t.Errorf("got %+v", a)
	}
	if a := o.Policies["adaptive"]; a.Trigger != 0.7 || a.Land != compact.DefaultLand || a.Reject || len(a.Pins.Tools) != 0 || len(a.Ladder) < 5 {
		t.Errorf("adaptive became %+v", a)
	}
}

// TestTheExampleRoutesAsTheDefaults: the example has a row of models for all, and
// nothing else follows from it than without a file.
func TestTheExampleRoutesAsTheDefaults(t *testing.T) {
	got := proxyOptions(must(config.Load("../config.example.yaml")))
	want := proxyOptions(config.Default())
	for _, model := range []string{"", "gpt-4o", "nobody"} {
		g, w := *got.RouteFor(model), *want.RouteFor(model)
		if g.Limits.MaxMessages != compact.DefaultMaxMessages {
			t.Errorf("max_messages is %d", g.Limits.MaxMessages)
		}
		g.Match, w.Match = "", ""
		g.Counter, w.Counter = nil, nil // counting.For makes each anew
		g.Limits.MaxMessages, w.Limits.MaxMessages = 0, 0
		gp, wp := *g.Policy, *w.Policy
		gp.Version, wp.Version = "", "" // the ladder is written out
		g.Policy, w.Policy = &gp, &wp
		if !reflect.DeepEqual(g, w) {
			t.Errorf("the route of %q differs\n%s", model, cmp.Diff(w.Policy, g.Policy, cmp.Exporter(func(reflect.Type) bool { return true })))
		}
	}
	limits := proxy.Limits{
		Body: 64 << 20, Memory: 512 << 20, Header: 10 * time.Second,
		ResponseHeader: 15 * time.Minute, StreamIdle: 10 * time.Minute, Shutdown: 30 * time.Second, Heads: 256,
	}
	if got.Limits != limits {
		t.Errorf("the limits are %+v", got.Limits)
	}
}

// TestTheTriggerFollowsThePrice: where a cached token costs as much as any other there
// is no prefix to keep, and epochs start at a half. A trigger that was set holds.
func TestTheTriggerFollowsThePrice(t *testing.T) {
	o := optionsFor(t, `
prices:
  - {match: "dear-*", input: 2, cached: 2}
  - {match: "cheap-*", input: 2, cached: 0.5}
  - {match: "untold-*", input: 2}
models:
  - {match: "*-set", policy: gentle}
policies: {gentle: {trigger: 0.9}}
`)
	f := func(model string, cached, trigger float64) {
		t.Helper()
		p := o.RouteFor(model).Policy
		if got := p.TriggerFor(compact.Estimator{}); p.CachedPrice != cached || got != trigger {
			t.Errorf("%s: a cached token costs %v, trigger %v", model, p.CachedPrice, got)
		}
	}
	f("dear-1", 1, compact.DefaultTriggerUncached)
	f("dear-set", 1, 0.9)
	f("cheap-1", 0.25, compact.DefaultTriggerEstimate)
	f("untold-1", 0, compact.DefaultTriggerEstimate)
	f("other", 0, compact.DefaultTriggerEstimate)
}
