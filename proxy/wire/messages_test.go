package wire_test

import (
	"slices"
	"testing"

	"laconic/compact"
	"laconic/proxy/wire"
)

// TestAMessageIsKnownAgain: marks that move, and a text that was a block, leave its
// sum, and what the model reads otherwise does not.
func TestAMessageIsKnownAgain(t *testing.T) {
	sum := func(message string) compact.Sum {
		r := decoded(t, wire.Messages, []byte(`{"messages":[`+message+`]}`))
		r.Sum(sums)
		return r.Conversation.Messages[0].Sum
	}
	const text, mark = `{"role":"user","content":"go \"cache_control\": on"}`, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	const block, result = `{"type":"text","text":"go \"cache_control\": on"`, `{"type":"tool_result","tool_use_id":"a","content":"A"`
	one := func(block string) string { return `{"role":"user","content":[` + block + `}]}` }
	f := func(a, b string, same bool) {
		t.Helper()
		if got := sum(a) == sum(b); got != same {
			t.Errorf("%s\n%s\nthe same: %v, want %v", a, b, got, same)
		}
	}
	f(text, one(block), true)
	f(text, one(block+mark), true)
	f(one(result), one(result+mark), true)
	f(one(result), one(result+mark+`,"is_error":true`), false)
	f(text, `{"role":"system","content":"go \"cache_control\": on"}`, false)
	f(text, `{"role":"user","content":"go \"cache_control\": off"}`, false)
	f(text, one(block+`,"citations":[]`), false)
	f(one(block+`},`+block+mark), one(block+mark+`},`+block), true)
	f(one(`{`+mark[1:]+`,"type":"text","text":"x"`), `{"role":"user","content":"x"}`, true)
}

// TestWhatJoinsTheInstructionsStandsInTheList: they are beside it, and keep their bytes.
func TestWhatJoinsTheInstructionsStandsInTheList(t *testing.T) {
	const body = `{"messages":[{"role":"system","content":"x"},{"role":"user","content":"go"}],"system":[{"type":"text","text":"Be."}]}`
	r := decoded(t, wire.Messages, []byte(body))
	msgs := slices.Clone(r.Conversation.Messages)
	msgs[0].Parts = append(slices.Clone(msgs[0].Parts), compact.Part{Text: compact.Plain("[x]")})
	msgs[0].Edited = true
	const want = `{"messages":[{"role":"user","content":"[x]"},{"role":"user","content":"go"}],"system":[{"type":"text","text":"Be."}]}`
	if out, err := r.Encode(slices.Delete(msgs, 1, 2)); err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

// TestEndsOfMessages: what the head and the end of an answer say.
func TestEndsOfMessages(t *testing.T) {
	const head = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"model\":\"q\",\"content\":[],\"stop_reason\":null," +
		"\"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":200,\"cache_read_input_tokens\":3000,\"output_tokens\":1}}}\n\n"
	delta := func(usage, stop string) string {
		return "event: content_block_start\ndata: {}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" + stop + "\"},\"usage\":" + usage + "}\n\n"
	}
	const last = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	f := func(name string, a wire.Answer, want wire.End) {
		t.Helper()
		got := wire.Messages.End(a)
		if g, w := got.Usage, want.Usage; (g == nil) != (w == nil) || g != nil && *g != *w {
			t.Errorf("%s: usage %+v, want %+v", name, g, w)
		}
		if got.Usage = want.Usage; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	f("Anthropic",
		wire.Answer{Head: []byte(head), Tail: []byte(delta(`{"output_tokens":7}`, "end_turn") + last), Stream: true},
		wire.End{Usage: &wire.Usage{Prompt: 3210, Completion: 7, Cached: 3000, CacheStated: true}, Done: true, Generated: true})
	f("Anthropic, in a few bytes",
		wire.Answer{Head: []byte(head + delta(`{"output_tokens":7}`, "end_turn") + last), Tail: []byte(head + delta(`{"output_tokens":7}`, "end_turn") + last), Stream: true, Whole: true},
		wire.End{Usage: &wire.Usage{Prompt: 3210, Completion: 7, Cached: 3000, CacheStated: true}, Done: true, Generated: true})
	f("Ollama, in a few bytes",
		wire.Answer{Tail: []byte(`data: {"type":"message_start","message":{"usage":{"input_tokens":99,"output_tokens":0}}}` + "\n\n" + delta(`{"input_tokens":120,"output_tokens":7}`, "tool_use") + last), Stream: true, Whole: true},
		wire.End{Usage: &wire.Usage{Prompt: 120, Completion: 7}, Done: true, Generated: true})
	f("Ollama, whose first word is a guess",
		wire.Answer{Head: []byte(`data: {"type":"message_start","message":{"usage":{"input_tokens":99,"output_tokens":0}}}`), Tail: []byte(delta(`{"input_tokens":120,"output_tokens":7}`, "tool_use") + last), Stream: true},
		wire.End{Usage: &wire.Usage{Prompt: 120, Completion: 7}, Done: true, Generated: true})
	f("whole",
		wire.Answer{Tail: []byte(`{"type":"message","model":"q","content":[],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":2}}`), Whole: true},
		wire.End{Usage: &wire.Usage{Prompt: 5, Completion: 2}, Generated: true})
	f("cut",
		wire.Answer{Head: []byte(head), Tail: []byte("event: content_block_delta\ndata: {}\n\n"), Stream: true},
		wire.End{Usage: &wire.Usage{Prompt: 3210, Completion: 1, Cached: 3000, CacheStated: true}, Flaw: wire.WithoutDone})
	f("cut in an event",
		wire.Answer{Tail: []byte("event: content_block_delta\ndata: {}\n\ndata: {\"ty"), Stream: true},
		wire.End{Flaw: wire.HalfEvent})
	f("the window is full",
		wire.Answer{Tail: []byte(delta(`{"output_tokens":7}`, "model_context_window_exceeded") + last), Stream: true},
		wire.End{Usage: &wire.Usage{Completion: 7}, Done: true, Generated: true, Flaw: wire.AtWindow})
	f("no room for an answer",
		wire.Answer{Head: []byte(`data: {"usage":{"input_tokens":9}}`), Tail: []byte(delta(`{"output_tokens":0}`, "max_tokens") + last), Stream: true},
		wire.End{Usage: &wire.Usage{Prompt: 9}, Done: true, Generated: true, Flaw: wire.BeforeOutput})
	f("failed on the way",
		wire.Answer{Tail: []byte(`data: {"type":"error","error":{"type":"overloaded_error","message":"stop_reason"}}` + "\n\n"), Stream: true, Whole: true},
		wire.End{Flaw: wire.WithoutDone})
	if got := wire.Messages.AnsweredBy(wire.Answer{Head: []byte(head), Stream: true}); got != "q" {
		t.Errorf("answered by %q", got)
	}
}
