package access

import (
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestAPathHasItsPlaceBelowTheUpstream(t *testing.T) {
	f := func(base, in, want string) {
		t.Helper()
		b, errB := url.Parse(base)
		in2, err := (&url.URL{}).Parse(in)
		if err != nil || errB != nil {
			t.Fatal(err, errB)
		}
		if got := UpstreamURL(b, in2).String(); got != want {
			t.Errorf("%s at %s: %s, want %s", in, base, got, want)
		}
	}
	f("https://api.openai.com/v1", "/v1/chat/completions", "https://api.openai.com/v1/chat/completions")
	f("https://api.openai.com/v1/", "/v1/chat/completions?x=1", "https://api.openai.com/v1/chat/completions?x=1")
	f("https://api.openai.com/v1", "/chat/completions", "https://api.openai.com/v1/chat/completions")
	f("https://api.deepseek.com", "/v1/chat/completions", "https://api.deepseek.com/chat/completions")
	f("https://api.deepseek.com", "/v1", "https://api.deepseek.com/")
	f("http://ollama:11434/v1", "/api/tags", "http://ollama:11434/api/tags")
	f("http://llama/v1", "/props", "http://llama/props")
	f("https://h/tenant/v1", "/health", "https://h/tenant/health")
	f("https://g/v1beta/openai", "/v1/models", "https://g/v1beta/openai/models")
	f("https://g/v1beta/openai", "/other", "https://g/v1beta/openai/other")
	f("https://x.openai.azure.com/openai", "/v1/deployments/a/chat/completions", "https://x.openai.azure.com/openai/deployments/a/chat/completions")
	f("https://x.openai.azure.com/openai/v1", "/deployments/a/chat/completions", "https://x.openai.azure.com/openai/deployments/a/chat/completions")
	f("https://x.openai.azure.com", "/openai/deployments/a/chat/completions?api-version=1", "https://x.openai.azure.com/openai/deployments/a/chat/completions?api-version=1")
	f("https://x.openai.azure.com/openai?api-version=1", "/v1/chat/completions", "https://x.openai.azure.com/openai/chat/completions?api-version=1")
	f("https://x.openai.azure.com/openai?api-version=1", "/v1/chat/completions?b", "https://x.openai.azure.com/openai/chat/completions?api-version=1&b")
	f("https://h/v1", "/v1/models/a%2Fb", "https://h/v1/models/a%2Fb")
	f("https://h/a%2Fb/v1", "/v1/models", "https://h/a%2Fb/v1/models")
	f("https://h/v1", "/v1//chat/completions", "https://h/v1//chat/completions")
}

func TestEndpointsAreFoundHoweverTheirPathIsSpelled(t *testing.T) {
	f := func(method, path, want string) {
		t.Helper()
		if got := Endpoint(method, httptest.NewRequest(method, path, nil).URL.Path); got != want {
			t.Errorf("%s %s: %q, want %q", method, path, got, want)
		}
	}
	const chat = "/chat/completions"
	f("POST", "/v1/chat/completions", chat)
	f("POST", "/chat/completions", chat)
	f("POST", "/v1//chat/completions", chat)
	f("POST", "/v1/chat/completions//", chat)
	f("POST", "/openai/deployments/gpt-4o/chat/completions", chat)
	f("POST", "/v1/ch%2561t/completions", chat)
	f("POST", "/v1/chat%252Fcompletions", chat)
	f("POST", `/v1/chat%5ccompletions`, chat)
	f("POST", "/V1/Chat/Completions", chat)
	f("POST", "/v1/chat;x=1/completions;y", chat)
	f("POST", "/v1/chat/completions%3Fx", chat)
	f("POST", "/v1/chat/completions%20", chat)
	f("POST", "/v1/chat/completions%00", chat)
	f("POST", "/v1/chat/./completions", chat)
	f("GET", "/v1/chat/completions", chat)
	f("POST", "/v1/chat/completions/id", "")
	f("POST", "/v1/xchat/completions", "/completions") // it ends so, and its body is read for a model
	f("POST", "/v1/completions", "/completions")
	f("POST", "/api/v1/Embeddings/", "/embeddings")
	f("POST", "/v1/responses", "/responses")
	f("POST", "/v1/responses/resp_1/cancel", "/responses")
	f("POST", "/v1/responses/compact", "/responses/compact")
	f("POST", "/anthropic/v1/messages", "/messages")
	f("POST", "/v1/messages/count_tokens?beta=true", "/messages/count_tokens")
	f("POST", "/v1/messages/batches", "")
	f("GET", "/v1/models/a/b", "/models")
	f("GET", "/v1/models/openai/chat/completions", "/models")
	f("POST", "/v1/files", "")
	f("POST", "/", "")
	f("POST", "/v1", "")
}

func TestOnlyTheEndpointItselfSpeaksItsAPI(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/chat/completions": ChatCompletions, "/chat/completions/": ChatCompletions, "/api/v1/ch%61t/completions;x=1": ChatCompletions,
		"/openai/deployments/gpt-4o/chat/completions": ChatCompletions, "/gateway/chat/completions": ChatCompletions,
		"/v1/chat/completions/id": "", "/v1/models/openai/chat/completions": ChatCompletions,
		"/v1/responses": "/responses", "/responses": "/responses", "/api/v1//Responses/": "/responses", "/openai/deployments/d/responses": "/responses",
		"/openai/v1/responses": "/responses", "/openai/responses": "/responses", "/deployments/d/responses": "/responses", "/v1/responses/compact": "/responses/compact", "/v1/responses/resp_1/cancel": "",
		"/v1/responses/resp_1": "", "/v1/responses/resp_1/input_items": "", "/v1/conversations/c/responses": "",
		"/v1/messages": "/messages", "/anthropic/v1/messages": "/messages", "/v1/messages/count_tokens": "/messages/count_tokens",
		"/v1/threads/thread_1/messages": "", "/v1/messages/batches": "", "/v1/threads/v1/runs/x/messages": "", "/threads/t/messages": "", "/": "",
	} {
		if got := Exact(httptest.NewRequest("POST", path, nil).URL.Path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestTheModelOfAPath(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		if got := ModelInPath(httptest.NewRequest("POST", path, nil).URL); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	f("/openai/deployments/Gpt-4o/chat/completions", "Gpt-4o")
	f("/v1/deployments/gpt-4o/embeddings", "gpt-4o")
	f("/OpenAI//Deployments/gpt-4o;x/embeddings/", "gpt-4o")
	f("/%6fpenai/deployments/gpt-4o/embeddings", "gpt-4o")
	f("/v1/models/meta%2FLlama", "meta/Llama")
	f("/V1/Models/meta/Llama", "meta/Llama")
	f("/models/a", "a")
	f("/v1beta/models/house-1:generateContent", "house-1")
	f("/v1/projects/p/locations/l/publishers/google/Models/house-1:streamGenerateContent", "house-1")
	f("/v1/models/qwen3:8b", "qwen3:8b")
	f("/v1/engines/house-1/completions", "house-1")
	f("/engines/house-1", "house-1")
	f("/v1/engines", "")
	f("/v1/models", "")
	f("/openai/deployments/", "")
	f("/v1/chat/completions", "")
}
