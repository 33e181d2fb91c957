package learn

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
)

func TestProgramsAreKnownByTheirPages(t *testing.T) {
	f := func(want string, pages map[string]string) {
		t.Helper()
		m, _ := asking(func(w http.ResponseWriter, r *http.Request) {
			page, ok := pages[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = io.WriteString(w, page)
		})
		got := m.Look(t.Context(), Upstream{URL: &url.URL{Scheme: "http", Host: "upstream", Path: "/v1"}, Header: func() http.Header { return http.Header{} }})
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
