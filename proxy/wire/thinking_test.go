package wire_test

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy/wire"
)

// TestBoundThinkingLeavesByteForByte: what Anthropic has signed leaves a message, and
// every other byte stays. Thinking that others signed stays, too.
func TestBoundThinkingLeavesByteForByte(t *testing.T) {
	const signed = `[{"type":"thinking","thinking":"so","signature":"Eq"}]`
	const call = `"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]`
	f := func(name, was, is string) {
		t.Helper()
		const head = `{"model":"m","messages":[{"role":"user","content":"go"} , `
		tail := `,{"role":"user","content":"on"}],"thinking":{"type":"adaptive"}}`
		if strings.Contains(was, call) {
			tail = `,{"role":"tool","tool_call_id":"c","content":"42"}` + tail
		}
		unbound(t, name, head+was+tail, head+is+tail, 2, is != was)
		unbound(t, name+", behind what was taken out", head+was+tail, head+was+tail, 1, false)
	}
	stays := func(name, was string) { t.Helper(); f(name, was, was) }
	f("LiteLLM, last", `{"role":"assistant", "content":"hi" , "thinking_blocks" : `+signed+` }`,
		`{"role":"assistant", "content":"hi"  }`)
	f("LiteLLM, first, with its text and a field that nobody knows", `{ "thinking_blocks":`+signed+`, "reasoning_content":"so","x":1e0,"role":"assistant","content":"hi"}`,
		`{ "x":1e0,"role":"assistant","content":"hi"}`)
	f("encrypted", `{"role":"assistant","thinking_blocks":[{"type":"redacted_thinking","data":"Em"}],"content":"hi"}`, `{"role":"assistant","content":"hi"}`)
	f("OpenRouter", `{"role":"assistant","reasoning":"so","content":"hi","reasoning_details":[{"type":"reasoning.text","text":"so","signature":"Eq","format":"anthropic-claude-v1"}],`+call+`}`,
		`{"role":"assistant","content":"hi",`+call+`}`)
	f("OpenRouter, encrypted", `{"role":"assistant","content":"hi","reasoning_details":[{"type":"reasoning.encrypted","data":"Em","format":"anthropic-claude-v1"}]}`, `{"role":"assistant","content":"hi"}`)
	f("no format", `{"role":"assistant","content":"hi","reasoning_details":[{"signature":"Eq","format":null}]}`, `{"role":"assistant","content":"hi"}`)
	f("a part of the content", `{"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"Eq"}, {"type":"text","text":"hi"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"hi"}]}`)
	f("nothing else", `{"role":"assistant","content":null,"thinking_blocks":`+signed+`}`, `{"role":"assistant","content":"`+compact.NoThinking+`"}`)
	f("nothing else, not even content", `{"thinking_blocks":`+signed+`,"role":"assistant"}`, `{"content":"`+compact.NoThinking+`","role":"assistant"}`)
	f("a signature of Google's stays", `{"role":"assistant","content":"hi","thinking_blocks":`+signed+`,"extra_content":{"google":{"thought_signature":"x"}}}`, `{"role":"assistant","content":"hi","extra_content":{"google":{"thought_signature":"x"}}}`)
	stays("Google", `{"role":"assistant","content":"hi","reasoning_details":[{"type":"reasoning.encrypted","data":"x","signature":"x","format":"google-gemini-v1"}]}`)
	stays("OpenAI", `{"role":"assistant","content":"hi","reasoning_details":[{"type":"reasoning.encrypted","data":"x","format":"openai-responses-v1"}]}`)
	stays("not signed", `{"role":"assistant","content":"hi","thinking_blocks":[{"type":"thinking","thinking":"so","signature":""}]}`)
	stays("a text alone", `{"role":"assistant","content":"hi","reasoning_content":"so"}`)
	stays("of a user", `{"role":"user","content":"hi","thinking_blocks":`+signed+`}`)
}

// unbound sends a body of which the messages before below lose their thinking.
func unbound(t *testing.T, name, was, want string, below int, edited bool) {
	t.Helper()
	r := decoded(t, wire.Chat, []byte(was))
	in := r.Conversation
	in.Unbind = below
	plan, report := compacttest.Compacted(t, in, &compact.Policy{}, compact.BytesPerToken(4), compact.Limits{}.For(0), name)
	out, err := r.Encode(plan.Apply(""))
	if err != nil || string(out) != want {
		t.Errorf("%s: %v\n%s\nbecame\n%s\nwant\n%s", name, err, was, out, want)
	}
	if edited != (report.Outcome != compact.Untouched) {
		t.Errorf("%s: %s", name, report.Outcome)
	}
}
