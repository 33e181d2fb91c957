package strict_test

import (
	"testing"

	"laconic/demo/strict"
)

func TestTheLimitIsSharp(t *testing.T) {
	// Two messages of 8 + 2 tokens; tools of 14 bytes, 4 tokens.
	const two = `"messages":[{"role":"user","content":"1234567"},{"role":"user","content":"1234567"}]`
	f := func(limit int, more, want string) {
		t.Helper()
		up := strict.New(strict.Options{Limit: limit})
		got := "ok"
		if _, r := up.Read("/chat/completions", []byte(`{"model":"m",`+two+more+`}`)); r != nil {
			got = r.Message
			if r.Kind != strict.KindOverflow || r.Code != "context_length_exceeded" || r.Param != "messages" || r.Status != 400 {
				t.Errorf("not an overflow: %+v", r)
			}
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f(20, "", "ok")
	f(19, "", "This model's maximum context length is 19 tokens. However, your messages resulted in 20 tokens. Please reduce the length of the messages.")
	f(-1, "", "ok")
	f(24, `,"tools":[{"type":"f"}]`, "ok")
	f(23, `,"tools":[{"type":"f"}]`, "This model's maximum context length is 23 tokens. However, your messages resulted in 24 tokens (20 in the messages, 4 in the functions). Please reduce the length of the messages or functions.")
	f(30, `,"max_tokens":10`, "ok")
	f(30, `,"max_tokens":1,"max_completion_tokens":11`, "This model's maximum context length is 30 tokens. However, you requested 31 tokens (20 in the messages, 11 in the completion). Please reduce the length of the messages or completion.")
	f(30, `,"max_tokens":7,"tools":[{"type":"f"}]`, "This model's maximum context length is 30 tokens. However, you requested 31 tokens (20 in the messages, 4 in the functions, 7 in the completion). Please reduce the length of the messages, functions, or completion.")
	f(20, `,"max_tokens":9223372036854775807`, "This model's maximum context length is 20 tokens. However, you requested 9223372036854775827 tokens (20 in the messages, 9223372036854775807 in the completion). Please reduce the length of the messages or completion.")
}

// TestThePromptAlone: the output may be more than is left.
func TestThePromptAlone(t *testing.T) {
	f := func(limit int, taken bool) {
		t.Helper()
		body := `{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"one"}]}`
		if _, r := strict.New(strict.Options{Limit: limit, PromptAlone: true}).Read("/chat/completions", []byte(body)); (r == nil) != taken {
			t.Errorf("limit %d: %v", limit, r)
		}
	}
	f(9, true)
	f(8, false)
}
