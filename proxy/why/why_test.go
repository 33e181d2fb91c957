package why

import (
	"testing"

	"laconic/compact"
)

// TestSentences: each says what is the matter in numbers, and what to do.
func TestSentences(t *testing.T) {
	over := func(after, budget, fixed int, p compact.Parts) *compact.Report {
		return &compact.Report{After: after, Budget: budget, Fixed: fixed, Parts: p}
	}
	f := func(r Reason, want string) {
		t.Helper()
		got := r.String()
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if len(got) > 300 {
			t.Errorf("%d bytes: %s", len(got), got)
		}
		for _, c := range got {
			if c < ' ' || c > '~' {
				t.Errorf("%q in %s", c, got)
			}
		}
	}
	f(Over(over(20480, 9000, 28, compact.Parts{Instructions: 11946, Task: 8506, Tasks: 1}), Row, 0),
		"instructions 11,946 and the first user message 8,506 tokens exceed the budget of 9,000: set budget to 21,000 or more")
	f(Over(over(13974, 12000, 28, compact.Parts{Instructions: 11946, Task: 2000, Tasks: 1}), Row, 0),
		"instructions 11,946 and the first user message 2,000 tokens exceed the budget of 12,000: set budget to 14,000 or more")
	f(Over(over(19999, 9000, 28, compact.Parts{Task: 400, Tasks: 2, User: 19554}), Override, 0),
		"the newest user message 19,554 tokens exceeds the budget of 9,000: set x-laconic-budget to 20,000 or more")
	f(Over(over(3500, 3072, 2000, compact.Parts{Task: 1400, Tasks: 3}), Server, 1024),
		"tools 2,000 and the first 3 user messages 1,400 tokens exceed the budget of 3,072: "+
			"start the server with a window of 4,600 or more (Ollama: OLLAMA_CONTEXT_LENGTH), or take a model that has it, or switch off tools")
	f(Over(&compact.Report{After: 10, Budget: 20, MessagesAfter: 2100}, Guess, 0),
		"2,100 messages stay, which are more than the upstream takes: raise max_messages, if the upstream takes more")
	f(Refused(Refusal{Reason: "overflow", Limit: 16000, Prompt: 19881, First: 19000, Second: 12800, Sent: true, Answered: true}),
		"the upstream refused 19,881 tokens as too long, and takes 16,000; it was sent again with 12,800 and answered: set window to 16000 in the model's row")
	f(Refused(Refusal{Reason: "overflow", Kind: "prompt", Full: true, First: 6945, Second: 3783, Sent: true, Answered: true}),
		"the upstream refused 6,945 tokens as too long, though its window is larger: other requests may have filled its memory; it was sent again with 3,783 and answered: have it take fewer at once (llama-server: -np 1), or give it a larger cache")
	f(Refused(Refusal{Reason: "overflow", Kind: "bytes", First: 6945}),
		"the upstream refused the bytes of the body as too many: raise that limit at the server, or at what stands before it")
	f(Refused(Refusal{Reason: "compaction", First: 6945}),
		"the upstream does not know compaction_trigger, and was answered for with a sealed record: to have the model summarize, give Codex' provider another name than OpenAI")
	f(Repaired(&compact.Report{Repairs: 2, ResultsDropped: 1}),
		"1 tool result with content had no call and left: the client loses calls from its history: look at the program that is named in tags, or at its version")
	f(Passed("duplicate_key", "an object of the body has a key twice"),
		"it went out as it came, because an object of the body has a key twice: correct the client")
	f(Passed("history_elsewhere", "a part of the history is at the upstream and not in the body"),
		"it went out as it came, because a part of the history is at the upstream and not in the body: to have it compacted, let the client send its whole history")
	f(Passed("context_managed", "the upstream is asked to compact by itself"),
		"it went out as it came, because the upstream is asked to compact by itself: to have it compacted here, let the client ask for no compaction")
	f(Repaired(&compact.Report{Repairs: 4}), "the history needed 4 repairs, without which the upstream refuses it")
	f(Repaired(&compact.Report{}), "")
	f(Small("Ollama", "qwen3:8b", 8192), "")
	f(Unloaded("vLLM"), "")
}
