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
	f("gpt-4o", "gpt-4o", "o200k_base")
	f("gpt-4o-2024-08-06", "gpt-4o", "o200k_base")
	f("gpt-4o-audio-preview", "gpt-4o", "o200k_base")
	f("gpt-4o-mini-2024-07-18", "gpt-4o-mini", "o200k_base")
	f("chatgpt-4o-latest", "gpt-4o", "o200k_base")
	f("gpt-4.1-nano", "gpt-4.1-nano", "o200k_base")
	f("gpt-4.1", "gpt-4.1", "o200k_base")
	f("gpt-4.5-preview", "gpt-4o", "o200k_base")
	f("gpt-5", "gpt-5", "o200k_base")
	f("gpt-5-chat-latest", "gpt-5-chat", "o200k_base")
	f("gpt-5.1-codex-mini", "gpt-5-mini", "o200k_base")
	f("gpt-5.3-codex", "gpt-5.2", "o200k_base")
	f("gpt-5.3-codex-spark", "gpt-5.2-chat", "o200k_base")
	f("gpt-5.4-mini", "gpt-5-mini", "o200k_base")
	f("gpt-5.5", "gpt-5.4", "o200k_base")
	f("gpt-6-sol", "gpt-6", "o200k*1.05") // nobody has said how it counts
	f("o1", "o1", "o200k_base")
	f("o3-mini", "o1", "o200k_base")
	f("o4-mini", "o4-mini", "o200k_base")
	f("gpt-oss-120b", "gpt-oss", "o200k_harmony")
	f("gpt-4", "gpt-4", "cl100k_base")
	f("gpt-4-32k", "gpt-4-32k", "cl100k_base")
	f("gpt-4-turbo-2024-04-09", "gpt-4-turbo", "cl100k_base")
	f("gpt-4-0125-preview", "gpt-4-turbo", "cl100k_base")
	f("gpt-3.5-turbo-0125", "gpt-3.5-turbo", "cl100k_base")
	f("gpt-35-turbo", "gpt-3.5-turbo", "cl100k_base") // Azure spells it so
	f("gpt-3.5-turbo-instruct", "gpt-3.5-turbo-instruct", "cl100k_base")
	f("text-embedding-3-large", "text-embedding", "cl100k_base")
	f("text-embedding-ada-002", "text-embedding", "cl100k_base")
	f("claude-3-5-sonnet-20241022", "claude-4", "o200k*1.35")
	f("claude-3.7-sonnet", "claude-4", "o200k*1.35")
	f("claude-opus-4-20250514", "claude-4", "o200k*1.35")
	f("claude-sonnet-4", "claude-4", "o200k*1.35")
	f("claude-sonnet-4@20250514", "claude-4", "o200k*1.35") // Vertex
	f("claude-haiku-4-5-20251001", "claude-4", "o200k*1.35")
	f("claude-opus-4.6", "claude-4", "o200k*1.35")
	f("claude-opus-4-7", "claude", "o200k*1.6")
	f("claude-opus-4.8-20260528", "claude", "o200k*1.6")
	f("claude-sonnet-5", "claude", "o200k*1.6")
	f("claude-2.1", "claude-2", "o200k*1.35")
	f("gemini-2.5-flash", "gemini-2", "o200k*1.15+digits")
	f("gemini-3-pro-preview", "gemini", "o200k*1.15+digits")
	f("gemma3:27b", "gemma", "o200k*1.15+digits")
	f("deepseek-chat", "deepseek", "o200k*1.1")
	f("deepseek-r1:671b", "deepseek", "o200k*1.1")
	f("deepseek-r1:7b", "deepseek-qwen", "cl100k*1.02+digits") // a Qwen 2.5 underneath
	f("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "deepseek-qwen", "cl100k*1.02+digits")
	f("deepseek-r1-0528-qwen3-8b", "deepseek-qwen", "cl100k*1.02+digits")
	f("deepseek-r1-distill-llama-70b", "deepseek", "o200k*1.1")
	f("kimi-k2-instruct", "kimi-k2", "o200k*1.1")
	f("qwen3:8b", "qwen3", "cl100k*1.02+digits")
	f("Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder", "cl100k*1.02+digits")
	f("qwen3-30b-a3b-instruct-2507", "qwen3-long", "cl100k*1.02+digits")
	f("qwen2.5-coder:7b", "qwen", "cl100k*1.02+digits")
	f("glm-4.6", "glm-4.6", "o200k*1.1")
	f("glm-4.6v-flash", "glm-4", "o200k*1.1")
	f("mimo-v2-flash", "mimo", "o200k*1.35+digits")
	f("XiaomiMiMo/MiMo-7B-RL", "mimo", "o200k*1.35+digits")
	f("llama3.1:8b", "llama-3.1", "cl100k*1.02")
	f("NousResearch/Hermes-3-Llama-3.1-8B", "llama-tuned", "cl100k*1.02")
	f("llama3:8b", "llama-3", "cl100k*1.02")
	f("llama3-70b-8192", "llama-3", "cl100k*1.02")
	f("llama2:13b", "llama-2", "o200k*1.35+digits")
	f("mistral", "mixtral", "o200k*1.35+digits")
	f("mistral-large-latest", "mistral", "o200k*1.1+digits")
	f("mistral-large-2411", "mistral-large-2", "o200k*1.35+digits") // 32,768 entries, unlike those since
	f("open-mixtral-8x7b", "mixtral", "o200k*1.35+digits")
	f("llava:13b", "llava", "o200k*1.35+digits")
	f("phi-3-mini-128k-instruct", "phi-3-128k", "o200k*1.2+digits")
	f("phi-3-mini-4k-instruct", "phi-3", "o200k*1.2+digits")

	// Nobody's: a model of one's own, names that only look like known ones, nonsense.
	f("my-finetune", "unknown", "o200k*1.1+digits")
	f("o1js", "unknown", "o200k*1.1+digits")
	f("", "unknown", "o200k*1.1+digits")
	f("/", "unknown", "o200k*1.1+digits")
	f("...:::", "unknown", "o200k*1.1+digits")
	f("日本語", "unknown", "o200k*1.1+digits")
}

// Exact is what OpenAI's own tables say and nothing else.
func TestOnlyOpenAIsPublishedEncodingsAreExact(t *testing.T) {
	f := func(model string, want bool) {
		t.Helper()
		if got := For(model).Exact(); got != want {
			t.Errorf("For(%q).Exact() = %v", model, got)
		}
	}
	f("gpt-4o", true)
	f("azure/gpt-4o-mini", true)
	f("openai/gpt-5-mini", true)
	f("ft:gpt-4.1-mini-2025-04-14:acme::a1b2", true)
	f("gpt-4-turbo", true)
	f("openai/gpt-oss-20b", true)
	f("text-embedding-3-small", true)
	f("gpt-6", false)
	f("computer-use-preview", false)
	f("claude-opus-4-6", false)
	f("llama3.1:8b", false)
	f("deepseek-chat", false)
	f("my-gpt-4o", false)
	f("", false)
	for i := range families {
		if c := &counters[i]; c.Exact() && c.text.scale != nil {
			t.Errorf("%s claims to be exact", families[i].name)
		}
	}
}

// A tokenizer that was chosen by name is a model's own only where it is that of its family. Of a model that nobody
// knows, who chooses says what it has.
func TestChosenTokenizerIsExactWhereItIsTheModelsOwn(t *testing.T) {
	f := func(model, tokenizer string, texts, framing bool) {
		t.Helper()
		c, err := For(model).Named(tokenizer)
		if err != nil {
			t.Fatal(err)
		}
		if c.Exact() != texts || c.FramingExact() != framing {
			t.Errorf("%s by %s: texts %v, framing %v, want %v, %v", model, tokenizer, c.Exact(), c.FramingExact(), texts, framing)
		}
	}
	f("gpt-4o", "o200k_base", true, true)
	f("gpt-4", "cl100k_base", true, true)
	f("gpt-oss-20b", "o200k_harmony", true, false) // its template is only roughly known
	f("gpt-oss-20b", "o200k_base", true, false)    // the same tokens for ordinary text
	f("gpt-4o", "o200k_harmony", true, false)
	f("gpt-4o", "cl100k_base", false, false)
	f("gpt-4", "o200k_base", false, false)
	f("gpt-4o", "bytes/4", false, false)
	f("claude-sonnet-4-5", "o200k_base", false, false)
	f("llama3.1:8b", "cl100k_base", false, false)
	f("gpt-6", "o200k_base", false, false)
	f("my-own", "o200k_base", true, false)
	f("my-own", "cl100k_base", true, false)
	f("my-own", "o200k*1.1", false, false)
	f("", "o200k_base", true, false)
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
	f("openai/gpt-4o/", "gpt-4o")
	f("Qwen/Qwen3-8B//", "qwen3")
	f(`C:\models\Qwen3-8B.gguf`, "qwen3")
	f(`D:\llm/meta\Llama-3.1-8B-Instruct\`, "llama-3.1")
	f("accounts/fireworks/models/gpt-oss-120b#accounts/me/deployments/abc", "gpt-oss")
	f("#accounts/me/deployments/abc", "unknown")
}

// Routers tell behind the name how the model is to be run.
func TestVariantBehindTheNameIsPassedOver(t *testing.T) {
	f := func(model, family string) {
		t.Helper()
		if got := For(model).Family(); got != family {
			t.Errorf("For(%q) is %s, want %s", model, got, family)
		}
	}
	f("openai/o3:nitro", "o1")
	f("o3:flex", "o1")
	f("o1:online", "o1")
	f("openai:o1", "o1")
	f("o3@2025-04-16", "o1")
	f("o1@latest", "o1")
	f("o4-mini:online", "o4-mini")
	f("openai/gpt-4o:extended", "gpt-4o")
	f("gemini-pro:free", "gemini-2")
	f("gemini-pro@001", "gemini-2")
	f("o3x:nitro", "unknown")
}

// Before its second generation Google wrote the version behind the size, if at all.
func TestOldGeminiIsToldFromTheThird(t *testing.T) {
	f := func(model, family string, remote int) {
		t.Helper()
		c := For(model)
		if got := c.Image("https://example.com/a.png", ""); c.Family() != family || got != remote {
			t.Errorf("For(%q) is %s, a remote picture costs %d, want %s and %d", model, c.Family(), got, family, remote)
		}
	}
	f("google/gemini-flash-1.5", "gemini-2", 4_128)
	f("google/gemini-flash-1.5-8b", "gemini-2", 4_128)
	f("google/gemini-pro-1.5", "gemini-2", 4_128)
	f("google/gemini-pro-vision", "gemini-2", 4_128)
	f("gemini-pro", "gemini-2", 4_128)
	f("gemini-ultra", "gemini-2", 4_128)
	f("gemini-1.5-pro-002", "gemini-2", 4_128)
	f("gemini-2.5-flash", "gemini-2", 4_128)
	f("gemini-pro-latest", "gemini", 1_120)
	f("gemini-flash-latest", "gemini", 1_120)
	f("gemini-3-pro-preview", "gemini", 1_120)
}

// Names of deployments, and of hosts that take no dot, spell versions in their own way.
func TestVersionOfGPTIsReadHoweverItIsSpelt(t *testing.T) {
	f := func(model, family string, window int) {
		t.Helper()
		if got := For(model).Family(); got != family {
			t.Errorf("For(%q) is %s, want %s", model, got, family)
		}
		if got, _, _ := Window(model); got != window {
			t.Errorf("Window(%q) = %d, want %d", model, got, window)
		}
	}
	f("gpt-41", "gpt-4.1", 1_047_576)
	f("gpt-4-1", "gpt-4.1", 1_047_576)
	f("gpt-4-1-2025-04-14", "gpt-4.1", 1_047_576)
	f("gpt-41-copilot", "gpt-4.1", 1_047_576)
	f("azure/gpt-4-1", "gpt-4.1", 1_047_576)
	f("azure_openai.gpt-4-1:latest", "gpt-4.1", 1_047_576)
	f("gpt-41-mini", "gpt-4.1-mini", 1_047_576)
	f("gpt-4-1-mini", "gpt-4.1-mini", 1_047_576)
	f("gpt-4-1-nano", "gpt-4.1-nano", 1_047_576)
	f("gpt-4-5-preview", "gpt-4o", 128_000)
	f("gpt-45-preview", "gpt-4o", 128_000)
	f("gpt-4-o", "gpt-4o", 128_000)
	f("gpt-4-o-2024-08-06", "gpt-4o", 128_000)
	f("gpt-4-omni", "gpt-4o", 128_000)
	f("gpt-4-o-mini", "gpt-4o-mini", 128_000)
	f("gpt-4-omni-mini", "gpt-4o-mini", 128_000)
	f("gpt-5-4", "gpt-5.4", 1_050_000)
	f("gpt-52-codex", "gpt-5.2", 400_000)
	f("gpt-3-5-turbo", "gpt-3.5-turbo", 16_385)

	// Here the digits are a date, a window or a size.
	f("gpt-4-1106-preview", "gpt-4-turbo", 128_000)
	f("gpt-4-0125", "gpt-4-turbo", 128_000)
	f("gpt-4-0314", "gpt-4", 8_192)
	f("gpt-4-0613", "gpt-4", 8_192)
	f("gpt-4-32k", "gpt-4-32k", 32_768)
	f("gpt-4-8k", "gpt-4", 8_192)
	f("gpt-4-", "gpt-4", 8_192)
	f("gpt-4-vision-preview", "gpt-4-turbo", 128_000)
	f("gpt-5-2025-08-07", "gpt-5", 400_000)
	f("gpt-5-mini", "gpt-5-mini", 400_000)
	f("gpt-", "unknown", 0)
	f("gpt-j-6b", "unknown", 0)
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
	f("qwen3-coder-plus", 262_144, 0)
	f("zai-org/GLM-4.6", 202_752, 0)
	f("glm-4.5", 128_000, 0)
	f("llama-3.3-70b-versatile", 131_072, 0)
	f("llama3:8b", 8_192, 0)
	f("mistral-large-2411", 131_072, 0)
	f("grok-3", 131_072, 0)
	f("grok-4-fast", 2_000_000, 0)
	f("grok-4-0709", 256_000, 0)
	f("grok-code-fast-1", 256_000, 0)
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
