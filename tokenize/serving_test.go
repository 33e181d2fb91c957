package tokenize

import "testing"

// TestServing: what was loaded is believed before any name, and a name where it agrees or nothing else is known.
func TestServing(t *testing.T) {
	f := func(asked, runs string, vocabulary int, template, want string) {
		t.Helper()
		if got := For(asked).Serving(runs, vocabulary, template).Family(); got != want {
			t.Errorf("%s, where %s runs with %d tokens: %s, want %s", asked, runs, vocabulary, got, want)
		}
	}
	f("my-model", "", 0, "", "unknown")
	f("my-model", "/models/model.gguf", 0, "", "unknown")
	f("my-model", "/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", 0, "", "qwen")
	f("gpt-4", "/data/DeepSeek-V3.1", 0, "", "deepseek")
	f("gpt-4", "/data/merged", 0, "", "gpt-4")
	f("gpt-4", "gpt-4", 151_936, "", "qwen") // an alias
	f("gpt-4", "model.gguf", 151_936, "<tool_call>\n<function=", "qwen3-coder")
	f("qwen3-vl-8b", "model.gguf", 151_936, "", "qwen3-long")
	f("qwen3-8b", "Llama-3.3-70B.gguf", 128_256, "", "llama-3.1")
	f("qwen3-coder:30b", "qwen3moe", 0, "", "qwen3-coder") // Ollama's kind of network
	f("gemma3:1b", "gemma3", 0, "", "gemma-3-1b")
	f("qwen3", "/data/Qwen3-Coder-30B", 0, "", "qwen3-coder")
	f("my-model", "model.gguf", 128_256, "{{ tools | tojson(indent=4) }}", "llama-3.1")
	f("my-model", "model.gguf", 128_256, "{% macro json_to_python_type(t) %}", "llama-tuned")
	f("my-model", "model.gguf", 128_256, "{{ messages }}", "llama-3")
	f("my-model", "model.gguf", 131_072, "<function=", "unknown") // several vocabularies have that size
	f("devstral", "model.gguf", 131_072, "", "mistral")
	for vocabulary, want := range map[int]string{
		32_064: "phi-3-128k", 32_768: "mixtral", 129_280: "deepseek", 152_064: "qwen", 201_088: "gpt-oss", 248_320: "qwen3-long", 262_144: "gemma", 262_208: "gemma",
	} {
		f("my-model", "model.gguf", vocabulary, "", want)
	}
}
