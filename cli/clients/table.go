package clients

// The endpoints whose requests are compacted.
const (
	chat      = "/v1/chat/completions"
	responses = "/v1/responses"
	messages  = "/v1/messages"
)

// Table is every client that has a page, in the order of the list of pages.
var Table = []Client{
	{
		Name: "claude-code", Title: "Claude Code", Version: "2.1.330", Endpoint: messages, Page: "claude-code.md", Programs: []string{"claude"},
		Blocks: []Block{{"shell", "sh", `export ANTHROPIC_BASE_URL=http://127.0.0.1:7280     # without /v1: Claude Code adds it
export ANTHROPIC_AUTH_TOKEN=none                    # any word, where the upstream wants no key
export ANTHROPIC_MODEL=qwen3-coder
export CLAUDE_CODE_MAX_OUTPUT_TOKENS=4096           # 32,000, its own choice, is more than a small window has
claude
`}},
		Advice: "Leave its window unset, which is 1,000,000 tokens for a model that it does not know", Upstream: "https://api.anthropic.com/v1", start: startClaude,
	},
	{
		Name: "opencode", Title: "opencode", Version: "1.18.33", Endpoint: chat, Page: "opencode.md", Programs: []string{"opencode"},
		Blocks: []Block{{"opencode.json", "json", `{
  "provider": {
    "laconic": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "http://127.0.0.1:7280/v1", "apiKey": "{env:OPENAI_API_KEY}" },
      "models": {
        "qwen3-coder": { "tool_call": true, "limit": { "context": 1000000, "output": 8192 } }
      }
    }
  }
}
`}},
		Advice: "Set `limit.context` far above the real window", wantsModel: true, start: startOpencode,
	},
	{
		Name: "qwen-code", Title: "Qwen Code", Version: "0.24.4", Endpoint: chat, Page: "qwen-code.md", Programs: []string{"qwen"},
		Blocks: []Block{{"shell", "sh", `qwen --auth-type openai --openai-base-url http://127.0.0.1:7280/v1 --openai-api-key "$OPENAI_API_KEY" --model qwen3-coder
`}},
		Advice: "Raise `model.generationConfig.contextWindowSize`", wantsModel: true, start: startQwen,
	},
	{
		Name: "pi", Title: "pi", Version: "0.73.1", Endpoint: chat, Page: "pi.md", Programs: []string{"pi"},
		Blocks: []Block{
			{"~/.pi/agent/models.json", "json", `{
  "providers": {
    "laconic": {
      "baseUrl": "http://127.0.0.1:7280/v1",
      "api": "openai-completions",
      "apiKey": "OPENAI_API_KEY",
      "models": [
        {
          "id": "qwen3-coder", "name": "qwen3-coder", "reasoning": false, "input": ["text"],
          "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 },
          "contextWindow": 1000000, "maxTokens": 8192
        }
      ]
    }
  }
}
`},
			{"shell", "sh", "pi --provider laconic --model qwen3-coder\n"},
		},
		Advice: "Set `contextWindow` far above the real window", wantsModel: true, start: startPi,
	},
	{
		Name: "cline", Title: "Cline", Version: "3.0.65", Endpoint: chat, Page: "cline.md", Programs: []string{"cline"},
		Blocks: []Block{{"shell", "sh", `cline auth openai-compatible -k "$OPENAI_API_KEY" -m qwen3-coder -b http://127.0.0.1:7280/v1
cline -P openai-compatible -m qwen3-coder --compaction off "fix the failing test"
`}},
		Advice: "`--compaction off`", wantsModel: true, start: startCline,
	},
	{
		Name: "copilot", Title: "GitHub Copilot CLI", Version: "1.0.102", Endpoint: chat, Page: "copilot.md", Programs: []string{"copilot"},
		Blocks: []Block{{"shell", "sh", `export COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:7280/v1
export COPILOT_PROVIDER_API_KEY="$OPENAI_API_KEY"     # not needed where the upstream wants no key
export COPILOT_MODEL=qwen3-coder
copilot
`}},
		wantsModel: true, start: startCopilot,
	},
	{
		Name: "continue", Title: "Continue", Version: "cn 1.5.47", Endpoint: chat, Page: "continue.md", Programs: []string{"cn"},
		Blocks:     []Block{{"config.yaml", "yaml", continueYAML}},
		wantsModel: true, start: startContinue,
	},
	{
		Name: "openai-sdk", Title: "OpenAI SDKs", Version: "node 7.57.0", Endpoint: chat, Page: "openai-sdk.md",
		Blocks: []Block{
			{"shell", "sh", "export OPENAI_BASE_URL=http://127.0.0.1:7280/v1\n"},
			{"JavaScript", "js", `const client = new OpenAI({ baseURL: "http://127.0.0.1:7280/v1" });                  // Node
`},
			{"Python", "python", `client = OpenAI(base_url="http://127.0.0.1:7280/v1")                                 # Python
`},
			{"Go", "go", `client := openai.NewClient(option.WithBaseURL("http://127.0.0.1:7280/v1"))           // Go
`},
		},
	},
	{
		Name: "langchain", Title: "LangChain", Version: "@langchain/openai 1.6.0", Endpoint: chat, Page: "langchain.md",
		Blocks: []Block{
			{"JavaScript", "js", `import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  model: "qwen3-coder",
  configuration: { baseURL: "http://127.0.0.1:7280/v1" },
  useResponsesApi: false,
});
`},
			{"Python", "python", `from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="qwen3-coder", base_url="http://127.0.0.1:7280/v1", use_responses_api=False)
`},
		},
	},
	{
		Name: "ai-sdk", Title: "AI SDK", Version: "7.0.173", Endpoint: chat, Page: "ai-sdk.md",
		Blocks: []Block{{"TypeScript", "ts", `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const laconic = createOpenAICompatible({
  name: "laconic",
  baseURL: "http://127.0.0.1:7280/v1",
  apiKey: process.env.OPENAI_API_KEY,
});
const model = laconic.chatModel("qwen3-coder");
`}},
	},
	{
		Name: "codex", Title: "Codex", Version: "0.169.0", Endpoint: responses, Page: "codex.md", Programs: []string{"codex"},
		Blocks: []Block{{"~/.codex/config.toml", "toml", `model = "qwen3-coder"
model_provider = "laconic"
model_context_window = 1000000             # leave compaction to Laconic
model_auto_compact_token_limit = 1000000

[model_providers.laconic]
name = "laconic"                           # as "OpenAI", Codex would ask the upstream to compact
base_url = "http://127.0.0.1:7280/v1"
env_key = "OPENAI_API_KEY"
supports_websockets = false
`}},
		Advice: "`model_context_window` and `model_auto_compact_token_limit` are far above the real window", wantsModel: true, start: startCodex,
	},
}
