package tokenize

import (
	"strings"
	"testing"
)

func TestFamilyByModelName(t *testing.T) {
	f := func(model, family, text string) {
		t.Helper()
		if c := For(model); c.Family() != family || c.Name() != text {
			t.Errorf("For(%q) is %s with %s, want %s with %s", model, c.Family(), c.Name(), family, text)
		}
	}
	f("gpt-4o", "gpt-4o", "bytes/3.2")
	f("gpt-4o-2024-08-06", "gpt-4o", "bytes/3.2")
	f("gpt-4o-audio-preview", "gpt-4o", "bytes/3.2")
	f("gpt-4o-mini-2024-07-18", "gpt-4o-mini", "bytes/3.2")
	f("chatgpt-4o-latest", "gpt-4o", "bytes/3.2")
	f("gpt-4.1-nano", "gpt-4.1-nano", "bytes/3.2")
	f("gpt-5", "gpt-5", "bytes/3.2")
	f("gpt-5-chat-latest", "gpt-5-chat", "bytes/3.2")
	f("gpt-5.1-codex-mini", "gpt-5-mini", "bytes/3.2")
	f("gpt-5.3-codex", "gpt-5.2", "bytes/3.2")
	f("gpt-5.3-codex-spark", "gpt-5.2-chat", "bytes/3.2")
	f("gpt-5.4-mini", "gpt-5-mini", "bytes/3.2")
	f("gpt-5.5", "gpt-5.4", "bytes/3.2")
	f("gpt-6-sol", "gpt-6", "bytes/3.2")
	f("o1", "o1", "bytes/3.2")
	f("o3-mini", "o1", "bytes/3.2")
	f("o4-mini", "o4-mini", "bytes/3.2")
	f("gpt-4", "gpt-4", "bytes/3.2")
	f("gpt-4-0125-preview", "gpt-4-turbo", "bytes/3.2")
	f("gpt-35-turbo", "gpt-3.5-turbo", "bytes/3.2") // Azure spells it so
	f("claude-3-5-sonnet-20241022", "claude-4", "bytes/2.6")
	f("claude-3.7-sonnet", "claude-4", "bytes/2.6")
	f("claude-opus-4-20250514", "claude-4", "bytes/2.6")
	f("claude-sonnet-4", "claude-4", "bytes/2.6")
	f("claude-sonnet-4@20250514", "claude-4", "bytes/2.6") // Vertex
	f("claude-haiku-4-5-20251001", "claude-4", "bytes/2.6")
	f("claude-opus-4.6", "claude-4", "bytes/2.6")
	f("claude-opus-4-7", "claude", "bytes/2.2")
	f("claude-opus-4.8-20260528", "claude", "bytes/2.2")
	f("claude-sonnet-5", "claude", "bytes/2.2")
	f("claude-2.1", "claude-2", "bytes/2.6")
	f("gemini-2.5-flash", "gemini-2", "bytes/2.8")
	f("gemini-3-pro-preview", "gemini", "bytes/2.8")
	f("deepseek-chat", "deepseek", "bytes/3")
	f("qwen3:8b", "qwen3", "bytes/2.8")
	f("Qwen3-Coder-480B-A35B-Instruct", "qwen3-long", "bytes/2.8")
	f("qwen3-30b-a3b-instruct-2507", "qwen3-long", "bytes/2.8")
	f("qwen2.5-coder:7b", "qwen", "bytes/2.8")
	f("glm-4.6", "glm-4", "bytes/2.8")
	f("llama3.1:8b", "llama-3.1", "bytes/3")
	f("llama3:8b", "llama-3", "bytes/3")
	f("llama3-70b-8192", "llama-3", "bytes/3")
	f("mistral", "mixtral", "bytes/2.4")
	f("mistral-large-latest", "mistral", "bytes/2.8")
	f("open-mixtral-8x7b", "mixtral", "bytes/2.4")
	f("llava:13b", "llava", "bytes/2.8")
	f("phi-3-mini-128k-instruct", "phi-3-128k", "bytes/2.4")
	f("phi-3-mini-4k-instruct", "phi-3", "bytes/2.4")

	// Nobody's: a model of one's own, names that only look like known ones, nonsense.
	f("my-finetune", "unknown", "bytes/3")
	f("o1js", "unknown", "bytes/3")
	f("", "unknown", "bytes/3")
	f("/", "unknown", "bytes/3")
	f("...:::", "unknown", "bytes/3")
	f("日本語", "unknown", "bytes/3")
}

func TestVendorInFrontOfTheNameIsPassedOver(t *testing.T) {
	f := func(model, family string) {
		t.Helper()
		if got := For(model).Family(); got != family {
			t.Errorf("For(%q) is %s, want %s", model, got, family)
		}
	}
	f("openai/gpt-4o", "gpt-4o")
	f("  OpenAI/GPT-4o-Mini ", "gpt-4o-mini")
	f("anthropic/claude-3-5-sonnet", "claude-4")
	f("openrouter/anthropic/claude-sonnet-4.5", "claude-4")
	f("models/gemini-2.0-flash", "gemini-2")
	f("deepseek/deepseek-reasoner", "deepseek")
	f("accounts/fireworks/models/llama-v3p1-70b-instruct", "llama-3.1")
	f("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1")
	f("meta-llama/Meta-Llama-3-8B-Instruct", "llama-3")
	f("@cf/meta/llama-4-scout-17b-16e-instruct", "llama-4")
	f("anthropic.claude-v2", "claude-2")
	f("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-4") // Bedrock: region, vendor, model
	f("us.deepseek.r1-v1:0", "deepseek")
	f("meta.llama3-1-70b-instruct-v1:0", "llama-3.1")
	f("openai.gpt-oss-120b-1:0", "gpt-oss")
	f("openai:gpt-4o", "gpt-4o")
	f("ft:gpt-4o-mini-2024-07-18:acme::a1b2", "gpt-4o-mini")
	f("google/gemma-3-27b-it:free", "gemma")
}

func TestWindows(t *testing.T) {
	f := func(model string, window, input int) {
		t.Helper()
		w, in, ok := Window(model)
		if w != window || in != input || ok != (window > 0) {
			t.Errorf("Window(%q) = %d, %d, %v, want %d, %d", model, w, in, ok, window, input)
		}
	}
	f("gpt-4o", 128_000, 0)
	f("gpt-4.1-mini", 1_047_576, 0)
	f("gpt-5", 400_000, 272_000)
	f("gpt-5-mini", 400_000, 272_000)
	f("gpt-5.1-codex-max", 400_000, 272_000)
	f("gpt-5-chat-latest", 128_000, 0)
	f("gpt-5.4", 1_050_000, 922_000)
	f("gpt-5.5-pro", 1_050_000, 922_000)
	f("gpt-5.4-nano", 400_000, 272_000)
	f("gpt-4-turbo-2024-04-09", 128_000, 0)
	f("gpt-4-0613", 8_192, 0)
	f("gpt-4-32k", 32_768, 0)
	f("gpt-3.5-turbo-0125", 16_385, 0)
	f("gpt-3.5-turbo-instruct", 4_096, 0)
	f("o1", 200_000, 0)
	f("o3-mini", 200_000, 0)
	f("o4-mini", 200_000, 0)
	f("gpt-oss-120b", 131_072, 0)
	f("claude-3-5-sonnet-20241022", 200_000, 0)
	f("claude-opus-4-8", 200_000, 0)
	f("gemini-2.5-pro", 1_048_576, 0)
	f("deepseek-chat", 131_072, 0)
	f("deepseek/deepseek-reasoner", 131_072, 0)
	f("kimi-k2-instruct", 131_072, 0)
	f("kimi-k2.5", 262_144, 0)
	f("qwen3-32b", 40_960, 0)
	f("qwen3-coder-plus", 131_072, 0)
	f("glm-4.5", 128_000, 0)
	f("llama-3.3-70b-versatile", 131_072, 0)
	f("llama3:8b", 8_192, 0)
	f("mistral-large-2411", 131_072, 0)
	f("grok-3", 131_072, 0)
	f("grok-4-fast", 256_000, 0)
	f("llava:13b", 0, 0) // Ollama decides
	f("my-finetune", 0, 0)
	f("", 0, 0)
}

// Each row must be reachable, or it says something that is never used.
func TestEveryRowClaimsItsOwnPatterns(t *testing.T) {
	for i, f := range families {
		reached := false
		for pattern := range strings.FieldsSeq(f.match) {
			for _, fill := range []string{"", "x", "-x"} {
				model := strings.NewReplacer("*", fill, "?", "-").Replace(pattern)
				reached = reached || familyOf(model) == i
			}
			if strings.ToLower(pattern) != pattern {
				t.Errorf("%s: pattern %q is not lower case, it can never match", f.name, pattern)
			}
		}
		if !reached {
			t.Errorf("no name reaches %s (%s)", f.name, f.match)
		}
	}
}

func TestRowsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for i, f := range families {
		switch {
		case seen[f.name]:
			t.Errorf("%s stands in the table twice", f.name)
		case f.image == nil, f.audio < 1:
			t.Errorf("%s charges nothing for a picture or a sound", f.name)
		case f.input != 0 && f.input >= f.window:
			t.Errorf("%s: prompt limit %d is not below the window %d", f.name, f.input, f.window)
		case (f.match == "*") != (i == len(families)-1):
			t.Errorf("%s: the last row, and only the last, matches everything", f.name)
		}
		seen[f.name] = true
	}
}

func TestPatterns(t *testing.T) {
	f := func(pattern, name string, want bool) {
		t.Helper()
		if got := matches(pattern, name); got != want {
			t.Errorf("matches(%q, %q) = %v, want %v", pattern, name, got, want)
		}
	}
	f("", "", true)
	f("", "a", false)
	f("*", "", true)
	f("*", "anything", true)
	f("gpt-4", "gpt-4", true)
	f("gpt-4", "gpt-4o", false)
	f("gpt-4", "gpt-", false)
	f("gpt-4*", "gpt-4", true)
	f("gpt-4*", "gpt-4o", true)
	f("*vision", "grok-2-vision", true)
	f("*vision", "grok-2-vision-1212", false)
	f("grok*vision*", "grok-2-vision-1212", true)
	f("a*b*c", "aXbYbZc", true)
	f("a*b*c", "aXbYbZ", false)
	f("4?5", "4.5", true)
	f("4?5", "45", false)
	f("?", "", false)
	f("*?*", "", false)
	f("**a**", "bab", true)
}

func TestLongModelNameIsCheap(t *testing.T) {
	// The work is bounded by longestModel, so a name of megabytes costs no more than a short one.
	if got := For("claude-" + strings.Repeat("x-", 4<<20)).Family(); got != "claude" {
		t.Errorf("family %s", got)
	}
	if got := For(strings.Repeat("a.", 4<<20)).Family(); got != "unknown" {
		t.Errorf("family %s", got)
	}
	if got := For(strings.Repeat("x/", 4<<20) + "gpt-4o").Family(); got != "gpt-4o" {
		t.Errorf("family %s", got)
	}
}
