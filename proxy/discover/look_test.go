package discover

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"laconic/compact"
)

// looked looks at an upstream with these pages, by their paths.
func looked(t *testing.T, pages map[string]string) Found {
	t.Helper()
	_, to := asking(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, page)
	})
	return Look(t.Context(), to, "test", Upstream{URL: &url.URL{Scheme: "http", Host: "upstream", Path: "/v1"}, Header: http.Header{}})
}

func TestProgramsAreKnownByTheirPages(t *testing.T) {
	f := func(want string, pages map[string]string) {
		t.Helper()
		got := looked(t, pages)
		if text := fmt.Sprintf("%s %d %v %d", got.Program, got.Status, got.Models, got.Published("m").Window); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	list := func(rest string) string { return `{"object":"list","data":[{"id":"m","object":"model"` + rest + `}]}` }
	f("vLLM 200 [m] 9000", map[string]string{"/v1/models": list(`,"owned_by":"vllm","max_model_len":9000`)})
	f("SGLang 200 [m] 0", map[string]string{"/v1/models": list(`,"owned_by":"sglang","max_model_len":null`)})
	f("llama.cpp 200 [m] 4096", map[string]string{"/v1/models": list(`,"owned_by":"llamacpp"`), "/props": `{"default_generation_settings":{"n_ctx":4096}}`})
	f("Ollama 200 [m] 0", map[string]string{"/v1/models": list(`,"owned_by":"library"`), "/api/ps": `{"models":[]}`})
	f("Ollama 200 [m] 8192", map[string]string{"/v1/models": list(""), "/api/ps": `{"models":[{"name":"m","context_length":8192}]}`})
	f("LM Studio 200 [m] 7000", map[string]string{"/v1/models": list(""), "/api/v0/models": `{"data":[{"id":"m","state":"loaded","loaded_context_length":7000}]}`})
	f("LM Studio 200 [m] 0", map[string]string{"/v1/models": list(""), "/api/v0/models": `{"data":[{"id":"m","state":"not-loaded"}]}`})
	f(" 200 [m] 0", map[string]string{"/v1/models": list("")})
	f(" 404 [] 0", nil)
	f(" 200 [] 0", map[string]string{"/v1/models": "<html>"})
}

// TestWhatUpstreamsSayThatTheyRun, whatever the model is called.
func TestWhatUpstreamsSayThatTheyRun(t *testing.T) {
	f := func(model string, want compact.Runs, pages map[string]string) {
		t.Helper()
		if got := looked(t, pages).Published(model).Runs; got != want {
			t.Errorf("%s: %+v, want %+v", model, got, want)
		}
	}
	list := func(rows string) map[string]string { return map[string]string{"/v1/models": `{"data":[` + rows + `]}`} }
	llama := list(`{"id":"gpt-4","owned_by":"llamacpp","meta":{"n_vocab":151936}}`) // an older one has its window on its own page
	f("any", compact.Runs{Name: "gpt-4", Vocabulary: 151936}, llama)
	llama["/props"] = `{"default_generation_settings":{"n_ctx":4096},"model_path":"/models/Qwen3-8B.gguf","chat_template":"{{ messages }}"}`
	f("any", compact.Runs{Name: "/models/Qwen3-8B.gguf", Vocabulary: 151936, Template: "{{ messages }}"}, llama)
	router := list(`{"id":"a","owned_by":"llamacpp","meta":{"n_ctx":4096,"n_vocab":32064}},{"id":"b","owned_by":"llamacpp"}`)
	f("a", compact.Runs{Name: "a", Vocabulary: 32064}, router)
	f("b", compact.Runs{}, router) // it is not loaded
	f("any", compact.Runs{}, router)
	vllm := list(`{"id":"my-model","root":"/data/Qwen2.5-7B-Instruct","parent":null,"max_model_len":4096},{"id":"n","root":null,"max_model_len":4096}`)
	f("my-model", compact.Runs{Name: "/data/Qwen2.5-7B-Instruct"}, vllm)
	f("any", compact.Runs{}, vllm)
	for family, want := range map[string]string{"qwen2": "qwen2", "gemma3": "gemma3", "llama": "", "phi3": ""} { // Mistral's is also llama, Phi-4's phi3
		f("mine", compact.Runs{Name: want}, map[string]string{
			"/api/ps": `{"models":[{"name":"mine:latest","context_length":4096,"details":{"family":"` + family + `","families":["` + family + `"]}}]}`,
		})
	}
	f("any", compact.Runs{Name: "Qwen/Qwen3-8B"}, map[string]string{"/info": `{"model_id":"Qwen/Qwen3-8B","max_total_tokens":4096}`})
}

// TestWindowsThatUpstreamsTell: every upstream's own page, with the trap that it has
// beside the right field.
func TestWindowsThatUpstreamsTell(t *testing.T) {
	f := func(name, model string, published any, pages ...string) {
		t.Helper()
		want, ok := published.(compact.Published)
		if !ok {
			want.Window = published.(int)
		}
		byPath := map[string]string{}
		for page := range slices.Chunk(pages, 2) {
			byPath[page[0]] = page[1]
		}
		found := looked(t, byPath)
		got := found.Published(model)
		if got.Runs = (compact.Runs{}); got != want || want != (compact.Published{}) && found.From == "" {
			t.Errorf("%s: %+v from %q, want %+v", name, got, found.From, want)
		}
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
	// The answer of 0.7.0, whatever it has loaded; a model that it has not is refused.
	f("llama.cpp, router: its own page has nothing", "c", 0, "/v1/models", `{"data":[{"id":"c","owned_by":"llamacpp","context_length":131072}]}`,
		"/props", `{"role":"router","max_instances":4,"default_generation_settings":{"params":null,"n_ctx":0}}`)
	f("llama.cpp, its own page decides", "m", 8192, "/v1/models", `{"data":[{"id":"m","owned_by":"llamacpp","context_length":131072}]}`, "/props", `{"default_generation_settings":{"n_ctx":8192}}`)
	f("llama-swap", "m", 16384, "/v1/models", `{"data":[{"id":"m","context_length":16384}]}`)
	f("ollama: what is loaded", "llama3", 8192,
		"/v1/models", `{"object":"list","data":[{"id":"llama3:latest","object":"model","owned_by":"library"}]}`,
		"/api/ps", `{"models":[{"name":"llama3:latest","model":"llama3:latest","context_length":8192}]}`,
		"/api/show", `{"model_info":{"llama.context_length":131072}}`)
	f("ollama, in other letters", "Llama3", 8192, "/api/ps", `{"models":[{"name":"llama3:latest","model":"llama3:latest","context_length":8192}]}`)
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
