package proxy

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"laconic/compact"
)

// teller is an upstream that answers some paths, and everything else with 404.
func teller(t testing.TB, pages map[string]string) *upstream {
	return newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			_, _ = io.WriteString(w, plainAnswer)
			return
		}
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, page)
	})
}

func paths(u *upstream) []string {
	var all []string
	for _, g := range u.requests() {
		if g.Method == "GET" {
			all = append(all, g.URI)
		}
	}
	return all
}

// Every upstream's own page, with the trap that it has beside the right field.
func TestWindowsThatUpstreamsTell(t *testing.T) {
	f := func(name, model string, told any, pages ...string) {
		want, ok := told.(compact.Published)
		if !ok {
			want.Window = told.(int)
		}
		t.Run(name, func(t *testing.T) {
			told := map[string]string{}
			for i := 0; i < len(pages); i += 2 {
				told[pages[i]] = pages[i+1]
			}
			u := teller(t, told)
			p := inFrontOf(t, u)
			found, _ := p.Look(t.Context(), &p.settings.Load().Default)
			got, from := found.Published(model), found.From
			if got != want || want != (compact.Published{}) && from == "" {
				t.Errorf("%+v from %q, want %+v (asked %v)", got, from, want, paths(u))
			}
		})
	}
	f("vllm", "m", 32768, "/v1/models", `{"object":"list","data":[{"id":"m","owned_by":"vllm","max_model_len":32768},{"id":"n","max_model_len":1024}]}`)
	f("sglang lora", "lora", 0, "/v1/models", `{"data":[{"id":"base","max_model_len":32768},{"id":"lora","max_model_len":null}]}`)
	f("llama.cpp: not what it was trained for", "any name", 4096,
		"/v1/models", `{"data":[{"id":"m.gguf","meta":{"n_ctx_train":131072,"n_params":1}}]}`,
		"/props", `{"default_generation_settings":{"n_ctx":4096},"total_slots":4}`)
	f("llama.cpp, newer", "m", 8192, "/v1/models", `{"data":[{"id":"m","meta":{"n_ctx_train":131072,"n_ctx":8192}}]}`)
	const llamacpp = `{"object":"list","data":[{"id":"m.gguf","aliases":["m","small"],"object":"model","owned_by":"llamacpp","context_length":131072,"meta":{"n_ctx_train":131072,"n_ctx":32768}}]}`
	for _, model := range []string{"m.gguf", "small", "gpt-4", "any name"} {
		f("llama.cpp, its one row: "+model, model, 32768, "/v1/models", llamacpp, "/props", `{"default_generation_settings":{"n_ctx":1}}`)
	}
	for caps, want := range map[string]compact.Published{
		`"supports_tools":false,"supports_tool_calls":true`:  {Window: 32768, NoTools: true},
		`"supports_tools":false,"supports_tool_calls":false`: {Window: 32768, NoTools: true, NoCalls: true},
		`"supports_tools":true,"supports_tool_calls":false`:  {Window: 32768},
	} {
		f("llama.cpp, what its template leaves out: "+caps, "small", want, "/v1/models", llamacpp, "/props", `{"chat_template_caps":{`+caps+`}}`)
	}
	const router = `{"data":[{"id":"a","aliases":["b"],"owned_by":"llamacpp","context_length":131072,"status":{"value":"unloaded","args":["llama-server","--ctx-size","4096","--port","0"]}},` +
		`{"id":"c","owned_by":"llamacpp","context_length":131072,"status":{"value":"unloaded","args":["llama-server","-c"]}},` +
		`{"id":"d","owned_by":"llamacpp","context_length":131072,"meta":{"n_ctx":2048},"status":{"value":"loaded","args":["--ctx-size","4096"]}}]}`
	f("llama.cpp, router: what it will be started with", "a", 4096, "/v1/models", router)
	f("llama.cpp, router: an alias", "b", 4096, "/v1/models", router)
	f("llama.cpp, router: not what it was trained for", "c", 0, "/v1/models", router)
	f("llama.cpp, router: what is loaded", "d", 2048, "/v1/models", router)
	f("llama.cpp, router: not another's", "e", 0, "/v1/models", router)
	f("llama.cpp, its own page decides", "m", 8192, "/v1/models", `{"data":[{"id":"m","owned_by":"llamacpp","context_length":131072}]}`, "/props", `{"default_generation_settings":{"n_ctx":8192}}`)
	f("llama-swap", "m", 16384, "/v1/models", `{"data":[{"id":"m","context_length":16384}]}`)
	f("ollama: what is loaded", "llama3", 8192,
		"/v1/models", `{"object":"list","data":[{"id":"llama3:latest","object":"model","owned_by":"library"}]}`,
		"/api/ps", `{"models":[{"name":"llama3:latest","model":"llama3:latest","context_length":8192}]}`,
		"/api/show", `{"model_info":{"llama.context_length":131072}}`)
	f("ollama, nothing loaded", "llama3", 0, "/v1/models", `{"data":[{"id":"llama3:latest"}]}`, "/api/ps", `{"models":[]}`)
	f("lm studio: what is loaded", "m", 4096,
		"/v1/models", `{"data":[{"id":"m","object":"model","owned_by":"organization_owner"}]}`,
		"/api/v0/models", `{"data":[{"id":"m","state":"loaded","max_context_length":131072,"loaded_context_length":4096}]}`)
	f("lm studio, not loaded", "m", 0,
		"/v1/models", `{"data":[{"id":"m"}]}`, "/api/v0/models", `{"data":[{"id":"m","state":"not-loaded","max_context_length":131072}]}`)
	f("lm studio, newer", "m", 4096,
		"/v1/models", `{"data":[{"id":"m"}]}`,
		"/api/v1/models", `{"models":[{"key":"m","max_context_length":131072,"loaded_instances":[{"config":{"context_length":8192}},{"config":{"context_length":4096}}]}]}`)
	f("tgi", "tgi", compact.Published{Window: 4096, Input: 4095}, "/v1/models", `{"data":[{"id":"m"}]}`, "/info", `{"model_id":"m","max_input_tokens":4095,"max_total_tokens":4096}`)
	f("tgi, older", "tgi", compact.Published{Window: 2048, Input: 1024}, "/info", `{"max_input_length":1024,"max_total_tokens":2048}`)
	f("litellm", "gpt-4o", compact.Published{Input: 128000}, "/v1/models", `{"data":[{"id":"gpt-4o","owned_by":"openai"}]}`,
		"/model/info", `{"data":[{"model_name":"gpt-4o","model_info":{"max_tokens":16384,"max_input_tokens":128000,"max_output_tokens":16384}},{"model_name":"gpt-4o","model_info":{"max_input_tokens":200000}}]}`)
	f("openrouter: the smaller of two", "a/b", 65536, "/v1/models", `{"data":[{"id":"a/b","context_length":131072,"top_provider":{"context_length":65536,"max_completion_tokens":65536}}]}`)
	f("mistral", "m", 131072, "/v1/models", `{"data":[{"id":"m","max_context_length":131072}]}`)
	f("together: a bare array", "m", 8192, "/v1/models", `[{"id":"m","context_length":8192}]`)
	f("groq", "m", 131072, "/v1/models", `{"data":[{"id":"m","context_window":131072,"max_completion_tokens":32768}]}`)

	f("anthropic", "m", compact.Published{Input: 200000}, "/v1/models", `{"data":[{"type":"model","id":"m","max_input_tokens":200000,"max_tokens":64000}]}`)

	f("nothing", "m", 0)
	f("not json", "m", 0, "/v1/models", `<html>`, "/props", `[`)
	f("numbers that cannot be meant", "m", 0, "/v1/models", `{"data":[{"id":"m","max_model_len":0,"context_length":-1,"context_window":3,"max_context_length":1e300,"max_input_tokens":"NaN"}]}`)
	f("other types", "m", 4096, "/v1/models", `{"data":[{"id":"m","max_model_len":"4096","context_length":{},"meta":{"n_ctx":[]}}]}`)

	// One odd row, or one odd field, loses nothing but itself.
	const odd = `null,7,"x",[],{"id":7},{"id":{},"context_length":1},{"id":"x","context_length":1000,"meta":"oops"},`
	f("odd rows", "m", 32768, "/v1/models", `{"object":[],"data":[`+odd+`{"id":"m","context_length":32768,"top_provider":"x"}]}`)
	f("odd rows, their own numbers", "x", 1000, "/v1/models", `{"data":[`+odd+`{"id":"m","context_length":32768}]}`)
	f("odd rows in a bare array", "m", 8192, "/v1/models", `[`+odd+`{"id":"m","context_length":8192}]`)
	f("odd rows, ollama", "m", 8192, "/api/ps", `{"models":[null,{"name":"y","context_length":[]},{"name":7,"model":"m","context_length":8192}]}`)
	f("odd rows, lm studio", "m", 4096, "/api/v0/models", `{"data":[{"id":"x","state":1},"y",{"id":"m","state":"loaded","loaded_context_length":4096}]}`)
	f("odd rows, lm studio, newer", "m", 4096, "/api/v1/models",
		`{"models":[{"key":"x","loaded_instances":{}},{"key":"m","loaded_instances":[null,{"config":[]},{"config":{"context_length":4096}}]}]}`)
	f("odd rows, litellm", "m", compact.Published{Input: 128000}, "/model/info",
		`{"data":[{"model_name":[]},{"model_name":"x","model_info":"?"},{"model_name":"m","model_info":{"max_input_tokens":128000,"mode":1}}]}`)
	f("odd fields, llama.cpp", "m", 4096, "/props", `{"default_generation_settings":{"n_ctx":4096,"params":"?"},"total_slots":"many"}`)
}

// TestWhoPublishesNothingIsNotAsked: a request to such an upstream costs no other,
// and what is too long is refused there.
func TestWhoPublishesNothingIsNotAsked(t *testing.T) {
	var asked atomic.Int64
	p := inFrontOf(t, newUpstream(t, nil), func(o *Options) {
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			return nil, io.EOF
		})
	})
	for _, discover := range []bool{true, false} {
		route := Route{Upstream: parseURL(t, "https://api.openai.com/v1"), Discover: discover}
		if published, refuses := p.published(p.settings.Load(), http.Header{}, &route, "gpt-9", true); published != (compact.Published{}) || !refuses {
			t.Errorf("discover %v: %+v, refuses %v", discover, published, refuses)
		}
		if _, says := p.Look(t.Context(), &route); says != "" {
			t.Error(says)
		}
	}
	if p.stop(); asked.Load() > 0 {
		t.Errorf("it was asked %d times", asked.Load())
	}
}

// A request never waits for discovery, and the next one uses what it found.
func TestDiscoveryIsInTheBackground(t *testing.T) {
	release := make(chan bool)
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			<-release
			_, _ = io.WriteString(w, `{"data":[{"id":"gpt-4o","max_model_len":2048}]}`)
			return
		}
		_, _ = io.WriteString(w, plainAnswer)
	})
	p := inFrontOf(t, u, func(o *Options) { o.Default.Limits, o.Default.Discover = compact.Limits{Window: 100_000}, true })
	for turn := 1; turn <= 3; turn++ { // asked once
		if res := p.chat(agentBody(30, 100)); res.Header.Get("X-Laconic-Outcome") != "untouched" {
			t.Errorf("%v", res.Header)
		}
	}
	close(release)
	eventually(t, "the window is known", func() bool {
		told, refuses := p.published(p.settings.Load(), http.Header{}, &p.settings.Load().Default, "gpt-4o", false)
		return told.Window == 2048 && refuses
	})
	if res := p.chat(agentBody(30, 100)); res.Header.Get("X-Laconic-Outcome") != "compacted" || res.Header.Get("X-Laconic-Budget") != "1536" {
		t.Errorf("%v", res.Header)
	}
	// Asked once more, because the answers count far less than what was sent.
	if all := slices.Compact(paths(u)); !slices.Equal(all, []string{"/v1/models"}) || len(paths(u)) > 2 {
		t.Errorf("asked %v", paths(u))
	}
	if r := p.replies(4)[3].Rewrite; r.Told.Window != 2048 {
		t.Errorf("%+v", r)
	}
	if head := u.requests()[0].Header; head.Get("User-Agent") == "" {
		t.Errorf("%v", head)
	}
}

// Questions carry the credential that requests to this upstream carry, and
// none goes anywhere else.
func TestWhoseKeyDiscoveryCarries(t *testing.T) {
	f := func(name string, change func(o *Options, u, other *upstream), paths, auth string) {
		t.Run(name, func(t *testing.T) {
			u, other := teller(t, nil), teller(t, nil)
			p := inFrontOf(t, u, func(o *Options) {
				o.Default.Discover = true
				change(o, u, other)
			})
			p.chat(chatBody, "Authorization", "Bearer client")
			asked := u
			if p.settings.Load().Default.Upstream.Host != u.base(t, "").Host || p.settings.Load().RouteFor != nil {
				asked = other
			}
			last := paths[strings.LastIndex(paths, " ")+1:]
			eventually(t, "all was asked", func() bool {
				all := asked.requests()
				return len(all) > 0 && slices.ContainsFunc(all, func(g got) bool { return g.URI == last })
			})
			var seen []string
			for _, g := range asked.requests() {
				if g.Method != "GET" {
					continue
				}
				seen = append(seen, g.URI)
				if got := g.Header.Get("Authorization"); got != auth {
					t.Errorf("%s carried %q, want %q", g.URI, got, auth)
				}
				if len(g.Header["Cookie"]) > 0 && auth != "Bearer client" {
					t.Errorf("%s carried a cookie", g.URI)
				}
			}
			if got := strings.Join(seen, " "); got != paths {
				t.Errorf("asked %s, want %s", got, paths)
			}
		})
	}
	const all = "/v1/models /props /api/ps /api/v0/models /api/v1/models /info /model/info"
	f("the client's", func(*Options, *upstream, *upstream) {}, all, "Bearer client")
	f("a key of ours, the list alone", func(o *Options, _, _ *upstream) { o.Default.Key = "ours" }, "/v1/models", "Bearer ours")
	f("another upstream gets none", func(o *Options, _, other *upstream) {
		r := o.Default
		r.Match, r.Upstream = "x", parseURL(t, other.URL+"/v1")
		o.Routes, o.RouteFor = []*Route{&r}, func(string) *Route { return &r }
	}, all, "")
}

func TestARefusedListEndsTheQuestions(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
	p := inFrontOf(t, u)
	p.Look(t.Context(), &p.settings.Load().Default)
	if got := paths(u); len(got) != 1 {
		t.Errorf("asked %v", got)
	}
}

func TestRedirectsAreNotFollowedByQuestions(t *testing.T) {
	elsewhere := teller(t, nil)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", elsewhere.URL+"/v1/models")
		w.WriteHeader(307)
	})
	p := inFrontOf(t, u)
	p.Look(t.Context(), &p.settings.Load().Default)
	if n := len(elsewhere.requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestEndlessAnswersToQuestionsAreLeft(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("[", 64<<10)); err != nil {
				return
			}
		}
	})
	p := inFrontOf(t, u)
	if f, _ := p.Look(t.Context(), &p.settings.Load().Default); f.Windows != nil {
		t.Errorf("%+v", f)
	}
}
