package strict_test

import (
	"fmt"

	"laconic/demo/strict"
)

// A history that was cut between a call and its result, as clients do that keep the last N messages.
func ExampleUpstream_Check() {
	r := strict.New(strict.Options{}).Check("/chat/completions", []byte(`{"model": "gpt-4o", "messages": [
		{"role": "tool", "tool_call_id": "call_1", "content": "ok"},
		{"role": "user", "content": "and now?"}]}`))
	fmt.Println(r.Status, r.Param)
	fmt.Println(r)
	// Output:
	// 400 messages.[0].role
	// Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.
}
