package handover

// place says which text of a request begins with a prompt.
type place uint8

const (
	asked        place = iota // the newest message
	instructions              // the instructions at the head of the list
	appended                  // the last part of the newest message, by which tools are forbidden that the request offers
)

// prompt is how an agent asks for a summary. The words are as few as tell it from
// anything else, and hold no character that an encoder of JSON may escape.
type prompt struct {
	agent  Agent
	in     place
	words  string
	source string // repository and file; not read by the program
}

// prompts is the table. The first row that fits names the agent.
var prompts = []prompt{
	// The history is in messages before the prompt.
	{"opencode", asked, "Provide a detailed prompt for continuing our conversation above", "sst/opencode packages/opencode/src/session/compaction.ts, 2025"},
	{"opencode", asked, "Summarize the older portion of the preceding conversation", "sst/opencode packages/core/src/session/compaction-suffix.ts"},
	{"qwen-code", asked, "First, reason in your ", "QwenLM/qwen-code packages/core/src/services/chatCompressionService.ts; forks of gemini-cli"},
	{"gemini-cli", instructions, "You are a specialized system component responsible for distilling chat history", "google-gemini/gemini-cli packages/core/src/prompts/snippets.ts; its second request, too, which checks the summary"},
	{"gemini-cli", instructions, "You are the component that summarizes internal chat history", "google-gemini/gemini-cli packages/core/src/core/prompts.ts, 2025"},
	{"codex", asked, "You are performing a CONTEXT CHECKPOINT COMPACTION", "openai/codex codex-rs/core/templates/compact/prompt.md"},
	{"codex", asked, "You have exceeded the maximum number of tokens, please stop coding", "openai/codex codex-rs/core/templates/compact/prompt.md, 2025"},
	{"crush", asked, "Provide a detailed summary of our conversation above", "charmbracelet/crush internal/agent/agent.go"},
	{"crush", instructions, "You are summarizing a conversation to preserve context for continuing work later", "charmbracelet/crush internal/agent/templates/summary.md"},
	{"roo-code", asked, "CRITICAL: This summarization request is a SYSTEM OPERATION", "RooCodeInc/Roo-Code src/shared/support-prompt.ts"},
	{"roo-code", asked, "Summarize the conversation so far, as described in the prompt instructions", "RooCodeInc/Roo-Code src/core/condense/index.ts, 2025; Kilo-Org/kilocode"},
	{"copilot-chat", asked, "Summarize the conversation history so far, paying special attention to the most recent agent commands", "microsoft/vscode-copilot-chat src/extension/prompts/node/agent/summarizedConversationHistory.tsx"},
	{"continue", asked, "Create a comprehensive summary of this conversation that captures all essential information", "continuedev/continue core/util/conversationCompaction.ts"},
	{"continue", asked, "Please provide a concise summary of our conversation so far, capturing the key context", "continuedev/continue extensions/cli/src/compaction.ts"},
	{"claude-code", appended, "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools", "npm @anthropic-ai/claude-code 2.1.330; the prompt stands behind the newest results"},
	// zed asks in the words of claude-code.
	{"claude-code", asked, "Your task is to create a detailed summary of the conversation so far", "zed-industries/zed crates/agent_settings/src/prompts/summarize_thread_detailed_prompt.txt; Claude Code behind a translating gateway"},
	{"claude-code", instructions, "You are a helpful AI assistant tasked with summarizing conversations", "RooCodeInc/Roo-Code src/core/condense/index.ts, which has it from Claude Code"},

	// The history is text inside of one message.
	{"opencode", instructions, "You are a context summarization agent", "sst/opencode packages/opencode/src/agent/prompt/compaction.txt"},
	{"opencode", instructions, "You are summarizing a conversation for continuation by another agent", "anomalyco/opencode packages/opencode/src/agent/prompt/compaction.txt, which sst/opencode became"},
	{"opencode", instructions, "You are an anchored context summarization assistant", "sst/opencode packages/opencode/src/agent/prompt/compaction.txt, 2026"},
	{"opencode", asked, "Create a new anchored summary from the conversation history", "sst/opencode packages/core/src/session/compaction.ts"},
	{"opencode", asked, "Update the anchored summary below", "sst/opencode packages/core/src/session/compaction.ts"},
	{"pi", instructions, "You are a context summarization assistant", "badlogic/pi-mono packages/coding-agent/src/core/compaction/utils.ts"},
	{"cline", instructions, "Summarize the provided coding session into a concise continuation note", "cline/cline sdk/packages/core/src/extensions/context/agentic-compaction.ts"},
	{"kimi-cli", instructions, "You are a helpful assistant that compacts conversation context", "MoonshotAI/kimi-cli src/kimi_cli/soul/compaction.py"},
	{"aider", instructions, "*Briefly* summarize this partial conversation about programming", "Aider-AI/aider aider/prompts.py"},
	{"goose", asked, "Please summarize the conversation history provided in the system prompt", "block/goose crates/goose/src/context_mgmt/mod.rs; the history is in the instructions"},
	{"openhands", asked, "You are maintaining a context-aware state summary for an interactive agent", "All-Hands-AI/OpenHands openhands/memory/condenser/impl/llm_summarizing_condenser.py"},
}
