package tokenize

// families lists what is known about models, by name. The first row that matches wins: a special case precedes the
// general one, and the last row matches everything.
//
// As of November 2026. Where the numbers come from:
//
//   - text. Which of OpenAI's models has which encoding: openai/tiktoken, model.py (August 2026). gpt-6 is not in it.
//     The other vocabularies are not at hand; their factors on a count of o200k_base come from nine sets of texts
//     counted with public vocabularies (Llama 3 and cl100k_base 1.00, Mistral's first 1.21 to 1.32, digits 1.63) and
//     from agent logs with their providers' usage: DeepSeek 1.05 to 1.16, Claude 3.5 to Opus 4.6 1.12 to 1.44 (what
//     clients add unseen is in it). Claude since 4.7 needs about a fifth more than before. Llama 3 and Qwen extend cl100k_base,
//     and 1.02 of that counted the tools and texts of three agents within 6 % of both. GLM, Kimi and the
//     Mistral vocabularies since Nemo are taken for 1.10, Gemini and Gemma for 1.15. Phi-3's is taken for 1.20: it counted four agents' first requests from 2 % too low to 16 % too high. A model of no known family gets
//     1.1, the middle of these, until the usage of its answers shows more (ways.go). Where single digits are tokens the
//     name ends in "+digits" (scale.go).
//   - pictures. OpenAI's and Anthropic's vision guides, Google's token guide, mistral-common, Ollama's source. The
//     squares of gpt-5.5 and gpt-6 at 1.2 tokens and their limits under "auto" and "high" agree to the token with
//     published measurements (Hugging Face, JOHNISKING/image-token-cost, late 2026); gpt-5.2 to 5.4 follow reports
//     (community.openai.com 1377015).
//   - sound. OpenAI about 10 tokens per second (its launch prices per minute and per token agree), Gemini 32.
//   - window and input. models.dev (MIT), July to November 2026, and what vendors publish. Where hosts of one model
//     differ, the row has the smaller number; a larger one belongs in the configuration. A row, or a group of rows, whose
//     number was compared with a page of the vendor's says so above it, with the day; all others were not.
var families = []family{
	// name, patterns on the model's name, text, picture, sound, page, window, input

	// OpenAI. The patterns of gpt-4o also take its audio, search and realtime siblings.
	{"gpt-6", "gpt-6*", "o200k*1.05", openAI6, 10, 0, 1_050_000, 922_000},
	{"gpt-5-chat", "gpt-5-chat* gpt-5.1-chat*", "o200k_base", tiles{70, 140}, 10, 0, 128_000, 0},
	{"gpt-5.2-chat", "gpt-5*-chat* gpt-5*-codex-spark*", "o200k_base", squares(120), 10, 0, 128_000, 0},
	{"gpt-5-mini", "gpt-5*-mini*", "o200k_base", squares(162), 10, 0, 400_000, 272_000},
	// Window and input: developers.openai.com/api/docs/models/gpt-5-nano.md, 2026-11-22.
	{"gpt-5-nano", "gpt-5*-nano*", "o200k_base", squares(246), 10, 0, 400_000, 272_000},
	{"gpt-5.5-instant", "gpt-5*-instant* chat-latest", "o200k_base", openAI54, 10, 0, 400_000, 272_000},
	{"gpt-5.4", "gpt-5.4* gpt-5.5* gpt-5.6* gpt-5.7* gpt-5.8* gpt-5.9*", "o200k_base", openAI54, 10, 0, 1_050_000, 922_000},
	{"gpt-5.2", "gpt-5.2* gpt-5.3*", "o200k_base", squares(120), 10, 0, 400_000, 272_000},
	// Window: developers.openai.com/api/docs/models/gpt-5-codex, 2026-11-22; input: a refusal quoted at community.openai.com 1344734.
	{"gpt-5", "gpt-5*", "o200k_base", tiles{70, 140}, 10, 0, 400_000, 272_000},
	{"gpt-4.1-mini", "gpt-4.1-mini*", "o200k_base", squares(162), 10, 0, 1_047_576, 0},
	{"gpt-4.1-nano", "gpt-4.1-nano*", "o200k_base", squares(246), 10, 0, 1_047_576, 0},
	{"gpt-4.1", "gpt-4.1*", "o200k_base", tiles{85, 170}, 10, 0, 1_047_576, 0},
	{"gpt-4o-mini", "gpt-4o-mini* gpt-4-o*mini*", "o200k_base", tiles{2833, 5667}, 10, 0, 128_000, 0},
	{"gpt-4o", "gpt-4o* gpt-4-o* chatgpt-4o* gpt-4.5* gpt-audio*", "o200k_base", tiles{85, 170}, 10, 0, 128_000, 0},
	{"o4-mini", "o4-mini* codex-mini*", "o200k_base", squares(172), 10, 0, 200_000, 0},
	{"o1-mini", "o1-mini* o1-preview*", "o200k_base", tiles{75, 150}, 10, 0, 128_000, 0},
	{"o1", "o1 o1-* o1:* o1@* o3 o3-* o3:* o3@*", "o200k_base", tiles{75, 150}, 10, 0, 200_000, 0},
	{"computer-use", "computer-use*", "o200k*1.05", tiles{65, 129}, 10, 0, 8_192, 0},
	{"gpt-4-turbo", "gpt-4-turbo* gpt-4-1106* gpt-4-0125* gpt-4-vision*", "cl100k_base", tiles{85, 170}, 10, 0, 128_000, 0},
	{"gpt-4-32k", "gpt-4-32k*", "cl100k_base", tiles{85, 170}, 10, 0, 32_768, 0},
	{"gpt-4", "gpt-4*", "cl100k_base", tiles{85, 170}, 10, 0, 8_192, 0},
	{"gpt-3.5-turbo-instruct", "gpt-3.5-turbo-instruct* gpt-35-turbo-instruct*", "cl100k_base", tiles{85, 170}, 10, 0, 4_096, 0},
	{"gpt-3.5-turbo", "gpt-3.5* gpt-35*", "cl100k_base", tiles{85, 170}, 10, 0, 16_385, 0},
	{"text-embedding", "text-embedding-*", "cl100k_base", tiles{85, 170}, 10, 0, 8_191, 0},
	// Window: developers.openai.com/api/docs/models/gpt-oss-120b.md, 2026-11-22.
	{"gpt-oss", "gpt-oss*", "o200k_harmony", anyVision, 32, 0, 131_072, 0},

	// Anthropic. Opus 4.7 brought another tokenizer and finer pictures; what is not known to be older counts as new.
	// The newer ones have 1,000,000 tokens at Anthropic and 200,000 at some hosts.
	{"claude-2", "claude-2* claude-v2* claude-instant*", "o200k*1.35", claude4, 32, 0, 100_000, 0},
	// Window: platform.claude.com/docs, models/haiku-4-5 and sonnet-4-5, 2026-11-22: 200K; opus-4-6 and sonnet-4-6: 1M there.
	{
		"claude-4",
		"claude-3* claude-4-opus* claude-4-sonnet* claude-4?1-* claude-4?5-* claude-4?6-* claude-*-4 claude-*-4@* " +
			"claude-*-4:* claude-*-4-20* claude-*-4?0* claude-*-4?1* claude-*-4?5* claude-*-4?6*",
		"o200k*1.35", claude4, 32, 0, 200_000, 0,
	},
	// Window: platform.claude.com/docs, models/sonnet-5, 2026-11-22: 1M there.
	{"claude", "claude*", "o200k*1.6", area{2576, 4_800}, 32, 0, 200_000, 0},

	// Google. Gemini 3 charges a picture about 1,120 tokens at its default resolution, Gemma 4 up to that.
	{"gemini-image", "gemini-*-image*", "o200k*1.15+digits", crops{258}, 32, 1_120, 32_768, 0},
	// Window: docs.cloud.google.com, models/gemini/2-5-pro, 2026-11-22: that much input.
	{
		"gemini-2",
		"gemini-1* gemini-2* gemini-pro gemini-pro:* gemini-pro@* gemini-pro-1* gemini-pro-vision* gemini-flash-1* " +
			"gemini-ultra*",
		"o200k*1.15+digits",
		crops{258},
		32, 258, 1_048_576, 0,
	},
	// Window: docs.cloud.google.com, models/gemini/3-flash, 2026-11-22.
	{"gemini", "gemini*", "o200k*1.15+digits", flat(1_120), 32, 1_120, 1_048_576, 0},
	{"gemma-2", "gemma gemma:* gemma-2* gemma2* gemma-7b* codegemma*", "o200k*1.15+digits", flat(768), 32, 0, 8_192, 0},
	{"gemma-3-1b", "gemma-3-1b* gemma3:1b* gemma-3n* gemma3n*", "o200k*1.15+digits", flat(768), 32, 0, 32_768, 0},
	{"gemma", "gemma*", "o200k*1.15+digits", flat(1_120), 32, 0, 131_072, 0},

	// DeepSeek. V4 has 1,000,000 tokens at DeepSeek, less elsewhere. Small R1 models are Qwen's, tokenizer included; the
	// names of Ollama's do not say so.
	{
		"deepseek-qwen",
		"deepseek-*qwen* deepseek-r1:1.5b* deepseek-r1:7b* deepseek-r1:8b* deepseek-r1:14b* deepseek-r1:32b*",
		"cl100k*1.02+digits", anyVision, 32, 0, 131_072, 0,
	},
	// Window: api-docs.deepseek.com/quick_start/pricing, 2026-11-22, which lists V4 alone: 1M there.
	{"deepseek", "deepseek*", "o200k*1.1", anyVision, 32, 0, 131_072, 0},

	// Moonshot.
	// Window: platform.kimi.com/docs/pricing/chat-k26, 2026-11-22: 256k.
	{"kimi-k2.5", "kimi-k2.* kimi-k2p* kimi-k2-0905* kimi-k2-thinking* kimi-k3*", "o200k*1.1", anyVision, 32, 0, 262_144, 0},
	// Window: README of github.com/MoonshotAI/Kimi-K2, commit 11062d1, read 2026-11-22: 128K.
	{"kimi-k2", "kimi* moonshot-v1-128k* moonshot-v1-auto*", "o200k*1.1", anyVision, 32, 0, 131_072, 0},
	{"moonshot-v1-32k", "moonshot-v1-32k*", "o200k*1.1", anyVision, 32, 0, 32_768, 0},
	{"moonshot-v1-8k", "moonshot-v1-8k*", "o200k*1.1", anyVision, 32, 0, 8_192, 0},

	// Alibaba. The first Qwen3 models have 40,960 tokens as published, 131,072 only where YaRN is switched on.
	// Window: README of github.com/QwenLM/Qwen3-Coder, commit 0e7ecb7, read 2026-11-22: native 256K, which holds for the open models; of
	// -plus and -flash no page of Alibaba's with a number was found, hosts name 1M.
	{"qwen3-coder", "qwen3-coder*", "cl100k*1.02+digits", qwenVision, 32, 0, 262_144, 0},
	{
		"qwen3-long",
		"qwen3-next* qwen3-max* qwen3-vl* qwen3-*-2507* qwen3.* qwen-plus* qwen-turbo* qwen-flash*",
		"cl100k*1.02+digits", qwenVision, 32, 0, 131_072, 0,
	},
	{"qwen3", "qwen3* qwen-3*", "cl100k*1.02+digits", qwenVision, 32, 0, 40_960, 0},
	{"qwen", "qwen* qwq* qvq*", "cl100k*1.02+digits", qwenVision, 32, 0, 32_768, 0},

	// Zhipu. For glm-4.7 alone the catalogue has seven windows.
	{"glm-4v", "glm-4.5v* glm-4.1v* glm-4v*", "o200k*1.1", anyVision, 32, 0, 64_000, 0},
	// Window: docs.bigmodel.cn/cn/guide/models/text/glm-4.6.md and the model's own README on Hugging Face, 2026-11-22: 200K; to the
	// token as Xinference lists it (inference.readthedocs.io v2.10.0).
	{"glm-4.6", "glm-4.6 glm-4.6-* glm-4.6:* glm-4.6@*", "o200k*1.1", anyVision, 32, 0, 202_752, 0},
	// Window: README of github.com/zai-org/GLM-4.5, commit 08158da, read 2026-11-22: 128K.
	{"glm-4", "glm-4*", "o200k*1.1", anyVision, 32, 0, 128_000, 0},
	{"glm-5", "glm-5*", "o200k*1.1", anyVision, 32, 0, 200_000, 0},

	// MiniMax.
	{"minimax", "minimax-m*", "o200k*1.2+digits", anyVision, 32, 0, 196_608, 0},

	// Vision models as people run them with Ollama, which charges 768 tokens for any picture. Ollama sets
	// the window by the memory at hand, so these rows have none.
	{"llava", "*llava* moondream* minicpm-v* granite*-vision*", "o200k*1.35+digits", flat(768), 32, 0, 0, 0},

	// Meta.
	{"llama-4", "*llama-4* *llama4*", "o200k*1.05", anyVision, 32, 0, 131_072, 0},
	// Made of Llama 3, with templates of their own.
	{"llama-tuned", "*hermes-3* *hermes3* *nemotron*", "cl100k*1.02", anyVision, 32, 0, 131_072, 0},
	{
		"llama-3.1",
		"*llama-3?1* *llama-3?2* *llama-3?3* *llama3?1* *llama3?2* *llama3?3* *llama-v3p*",
		"cl100k*1.02", anyVision, 32, 0, 131_072, 0,
	},
	{"llama-3", "*llama-3* *llama3* *llama-v3*", "cl100k*1.02", anyVision, 32, 0, 8_192, 0},
	{"llama-2", "*llama-2* *llama2* codellama*", "o200k*1.35+digits", anyVision, 32, 0, 4_096, 0},

	// Mistral. Its first tokenizer has 32,768 entries, the one since Nemo 131,072.
	{
		"mixtral",
		"*mixtral* *mistral-7b* mistral mistral:* codestral-22b* codestral-2405* mathstral* mistral-tiny*",
		"o200k*1.35+digits", mistral3, 32, 0, 32_768, 0,
	},
	{"pixtral", "pixtral*", "o200k*1.1+digits", lines{16, 1024}, 32, 0, 131_072, 0},
	{"magistral", "magistral*", "o200k*1.1+digits", mistral3, 32, 0, 40_960, 0},
	{"mistral-32k", "voxtral* mistral-small-24* mistral-small-2501* mistral-large-2402*", "o200k*1.35+digits", mistral3, 32, 0, 32_768, 0},
	{"mistral-large-2", "*mistral-large*-24*", "o200k*1.35+digits", mistral3, 32, 0, 131_072, 0},
	{"mistral", "*mistral* ministral* *devstral* codestral*", "o200k*1.1+digits", mistral3, 32, 0, 131_072, 0},

	// xAI. A picture is cut into at most six tiles of 256 tokens, and one more shows the whole.
	// Windows of Grok: docs.x.ai/docs/models as archived on 2025-10-21 (archive.fo/j06YR), read 2026-11-22.
	{"grok-vision", "grok*vision*", "o200k*1.2+digits", flat(1_792), 32, 0, 32_768, 0},
	{"grok-4-fast", "grok-4-fast*", "o200k*1.2+digits", flat(1_792), 32, 0, 2_000_000, 0},
	{"grok-4", "grok-4* grok-code*", "o200k*1.2+digits", flat(1_792), 32, 0, 256_000, 0},
	{"grok", "grok*", "o200k*1.2+digits", flat(1_792), 32, 0, 131_072, 0},

	// Others that are often met.
	{"command", "command-r* command-a*", "o200k*1.2+digits", anyVision, 32, 0, 128_000, 0},
	{"nova", "nova-micro* nova-lite* nova-pro* nova-premier*", "o200k*1.2+digits", anyVision, 32, 0, 128_000, 0},
	{"phi-4", "phi-4* phi4*", "o200k*1.05", anyVision, 32, 0, 16_384, 0},
	{"phi-3-128k", "phi-3*128k* phi-3.5* phi3.5*", "o200k*1.2+digits", anyVision, 32, 0, 131_072, 0},
	{"phi-3", "phi-3* phi3*", "o200k*1.2+digits", anyVision, 32, 0, 4_096, 0},

	// Xiaomi's API drops what does not fit without a word, so its models are counted at the safe end.
	{"mimo", "mimo* xiaomi-mimo*", "o200k*1.35+digits", anyVision, 32, 0, 0, 0},

	{"unknown", "*", "o200k*1.1+digits", anyVision, 32, 0, 0, 0},
}

// squares is OpenAI's way since gpt-4.1-mini: up to 1,536 squares of 32 pixels, at so many percent of a token.
func squares(percent int) picture { return patches{side: 32, percent: percent, limit: 1_536} }

var (
	// Since gpt-5.4 "auto" keeps the original size, up to 10,000 squares; "high" stops at 2,500.
	openAI54 = patches{side: 32, percent: 120, limit: 10_000, high: 2_500}
	// gpt-6 was seen to take 11,970 squares under "auto"; where it stops is not known.
	openAI6 = patches{side: 32, percent: 120, limit: 12_000, high: 2_500}

	claude4  = area{1568, 1_600}
	mistral3 = lines{28, 1540} // patches of 14, merged two by two

	// Qwen's own processor takes up to 16,384 squares of 28 pixels; hosts stop at 2,560 or less unless told otherwise,
	// so a picture of unknown size is charged 4,096.
	qwenVision = patches{side: 28, percent: 100, limit: 16_384, unseen: 4_096}

	// Where nothing is known: squares of 28 pixels, which most open vision models merge into a token, at least
	// Ollama's 768 (LLaVA has 576 for any picture) and at most 4,096 (Pixtral; InternVL has 3,328).
	anyVision = patches{side: 28, percent: 100, limit: 4_096, least: 768}
)
