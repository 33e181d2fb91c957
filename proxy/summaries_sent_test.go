package proxy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/summarize"
)

// TestWhatASummarizerIsSent: a model, two messages and a limit; the originals,
// with secrets masked; the key that was configured and nothing of the client's.
func TestWhatASummarizerIsSent(t *testing.T) {
	f := func(name string, credential []string, change func(*Options)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			u, model := newUpstream(t, nil), newUpstream(t, tells(answered(told, "stop")))
			r := summarized(t, u, model, waiting, change)
			body := strings.Replace(history(long), `"model":"m"`, `"model":"m","tools":[{"type":"function","function":{"name":"canary-tool"}}],"user":"canary-user"`, 1)
			body = strings.Replace(body, "line of f3.", "PASSWORD=canary-password", 1)
			body = strings.Replace(body, "do it,", "do it with the password: canary-password,", 1)
			r.chat(body, "Authorization", "Bearer client-key", "Cookie", "canary=1", "X-Custom", "canary", "Openai-Organization", "client-org")
			all := model.requests()
			if len(all) != 1 {
				t.Fatalf("%d requests", len(all))
			}
			got := all[0]
			if strings.Contains(string(got.Body), "canary") || strings.Contains(fmt.Sprint(got.Header), "canary") {
				t.Errorf("it got what is not for it: %v\n%s", got.Header, got.Body)
			}
			keys := []string{}
			if names := slices.Sorted(maps.Keys(gjson.ParseBytes(got.Body).Map())); !slices.Equal(names, []string{"max_tokens", "messages", "model", "stream", "temperature"}) || !strings.Contains(string(got.Body), `"stream":false`) {
				t.Errorf("it got %v", names)
			}
			for name, v := range got.Header {
				if access.IsCredential(name) {
					keys = append(keys, name+": "+strings.Join(v, ","))
				}
			}
			slices.Sort(keys)
			if !slices.Equal(keys, credential) {
				t.Errorf("it got %q, want %q", keys, credential)
			}
			for _, want := range []string{"line of f1.", "call: read", "src/f2.go", "[secret]", "Step 5"} {
				if !strings.Contains(string(got.Body), want) {
					t.Errorf("%q is missing", want)
				}
			}
			if slot := slotOf(t, u.requests()[0].Body); !strings.Contains(slot, told) || !strings.Contains(slot, "You must keep build/out-5.txt as it is.") {
				t.Errorf("the slot holds neither the summary nor what it lost:\n%s", slot)
			}
			if got.Method != "POST" || strings.TrimSuffix(got.URI, "?api-version=1") != "/v1/chat/completions" || strings.Contains(got.URI, "?") != (name == "no key") {
				t.Errorf("%s %s", got.Method, got.URI)
			}
		})
	}
	f("its own key", []string{"Authorization: Bearer own-key"}, func(*Options) {})
	f("no key", []string{}, func(o *Options) { o.Summarizer.Key, o.Summarizer.Upstream.RawQuery = "", "api-version=1" }) // as those of gateways
	f("the client's", []string{"Authorization: Bearer client-key", "Openai-Organization: client-org"}, func(o *Options) {
		o.Summarizer.Key, o.Summarizer.ClientCredential = "", true
	})
}

// TestNobodyElseGetsASummary: one byte, another key, upstream, policy or model
// of the summarizer, and it is another one.
func TestNobodyElseGetsASummary(t *testing.T) {
	vault := memoryStore(t)
	u, model := newUpstream(t, nil), newUpstream(t, tells(answered(told, "stop")))
	other := newUpstream(t, nil)
	var with []string // more headers
	path := "/v1/chat/completions"
	f := func(name string, hit bool, body string, key string, change ...func(*Options)) {
		t.Helper()
		before := len(model.requests())
		r := summarized(t, u, model, append([]func(*Options){waiting, func(o *Options) { o.Store = vault }}, change...)...)
		r.do("POST", path, strings.NewReader(body), append([]string{"Content-Type", "application/json", "Authorization", key}, with...)...)
		r.quietly()
		want := summarize.Made
		if hit {
			want = summarize.Hit
		}
		if got := r.lastSummary(1); got.Outcome != want || (len(model.requests()) > before) == hit {
			t.Errorf("%s: %+v, asked %d times", name, got, len(model.requests())-before)
		}
		r.stop()
	}
	base := history(long)
	f("the first", false, base, "a")
	f("the same again, in a new process", true, base, "a")
	f("another way to write the same JSON", true, strings.ReplaceAll(base, "line of f1.", `\u006cine of f1.`), "a")
	f("the marker of a prompt cache", true, strings.Replace(base, `"role":"tool"`, `"cache_control":{"type":"ephemeral"},"role":"tool"`, 1), "a")
	f("another key", false, base, "b")
	for _, name := range []string{"X-Api-Key", "api_key", "X-Portkey-Virtual-Key", "X-Functions-Key", "Cf-Access-Jwt-Assertion", "Cookie", "OpenAI-Organization"} {
		with = []string{name, "c"}
		f("another "+name, false, base, "a")
	}
	with = []string{"Idempotency-Key", "c"}
	f("a key that names the request", true, base, "a")
	with, path = nil, "/v1/chat/completions?key=c"
	f("another key in the URL", false, base, "a")
	path = "/v1/chat/completions"
	f("one byte of a result", false, strings.Replace(base, "line of f1.", "line of g1.", 1), "a")
	f("one byte of an argument", false, strings.Replace(base, "src/f2.go", "src/g2.go", 1), "a")
	f("one byte of the task", false, strings.Replace(base, "do it,", "do it;", 1), "a")
	f("another upstream", false, base, "a", func(o *Options) { o.Default.Upstream = other.base(t, "/v1") })
	f("another policy", false, base, "a", func(o *Options) { o.Default.Policy.Name = "other" })
	f("another model", false, base, "a", func(o *Options) { o.Summarizer.Model = "large" })
	f("unmasked", false, base, "a", func(o *Options) { o.Summarizer.Mask = false })
	f("the first again", true, base, "a")
}

// TestALoopStopsAfterOneLevel: a request that asks for a summary starts none,
// and nobody can make us pay for headers that choose what is summarized.
func TestWhoMayStartASummary(t *testing.T) {
	u, model := newUpstream(t, nil), newUpstream(t, tells(answered(told, "stop")))
	f := func(want string, headers []string, change ...func(*Options)) {
		t.Helper()
		r := summarized(t, u, model, append([]func(*Options){waiting}, change...)...)
		before := len(model.requests())
		r.chat(history(long), headers...)
		r.quietly()
		got := r.lastSummary(1)
		if got.Reason != want || (len(model.requests()) > before) != (want == "") {
			t.Errorf("%v: %+v, asked %d times", headers, got, len(model.requests())-before)
		}
	}
	f("looped", []string{summarize.Header, "1"})
	f("looped", []string{summarize.Header, "1"}, func(o *Options) { o.Overrides = false })
	f("override", []string{headerBudget, "3900"})
	f("not_folded", nil, func(o *Options) { o.Default.Policy.PerRequest = &compact.PerRequest{} })
	f("", nil)
	f("", []string{headerBudget, "3900"}, func(o *Options) { o.Summarizer.Key, o.Summarizer.ClientCredential = "", true })
}
