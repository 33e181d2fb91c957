package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestLlamaCppResponses: a history of items that is longer than the server's window is
// answered, streamed and not, in a form that the server's parser takes.
func TestLlamaCppResponses(t *testing.T) {
	t.Parallel()
	file := model(t, "")
	items := []object{
		{"type": "message", "role": "developer", "content": []object{{"type": "input_text", "text": "be brief"}}},
		{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "read all files"}}},
	}
	for n := range 30 {
		id := fmt.Sprintf("call_%d", n)
		items = append(items,
			object{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": "read", "arguments": fmt.Sprintf(`{"path":"file%d.go"}`, n), "status": "completed"},
			object{"type": "function_call_output", "call_id": id, "output": strings.Repeat(fmt.Sprintf("line of file %d\n", n), 60)})
	}
	tools := []object{{"type": "function", "name": "read", "parameters": object{"type": "object", "properties": object{"path": object{"type": "string"}}}}}
	l := startLlama(t, append(template(t, "Qwen3.5-4B"), "-m", file, "-c", "4096")...)
	p := startLaconic(t, l.URL+"/v1", "")
	for i, stream := range []bool{false, true} {
		body := marshal(object{"model": "my-model", "store": false, "stream": stream, "input": items, "tools": tools, "max_output_tokens": 4})
		if status, _, answer := postJSON(t, l.direct+"/v1/responses", body); status < 400 {
			t.Fatalf("the server takes it as it came: %d %.300s", status, answer)
		}
		status, h, answer := postJSON(t, p.URL+"/v1/responses", body)
		if status != http.StatusOK || !strings.Contains(string(answer), "completed") {
			t.Fatalf("request %d: %d %v %.1000s", i+1, status, h, answer)
		}
	}
}

// TestLlamaCppTwoDevelopers: Codex begins with two messages of the developer. A template
// that takes instructions at the beginning alone gets them as one.
func TestLlamaCppTwoDevelopers(t *testing.T) {
	t.Parallel()
	said := func(role, text string) object {
		return object{"type": "message", "role": role, "content": []object{{"type": "input_text", "text": text}}}
	}
	body := marshal(object{
		"model": "my-model", "store": false, "max_output_tokens": 4,
		"input": []object{said("developer", "be brief"), said("developer", "there are no skills"), said("user", "hello")},
	})
	l := startLlama(t, append(template(t, "Qwen3.5-4B"), "-m", model(t, ""), "-c", "4096")...)
	p := startLaconic(t, l.URL+"/v1", "")
	if status, _, answer := postJSON(t, l.direct+"/v1/responses", body); status < 400 {
		t.Fatalf("the server takes it as it came: %d %.300s", status, answer)
	}
	for i := range 2 {
		if status, h, answer := postJSON(t, p.URL+"/v1/responses", body); status != http.StatusOK || !strings.Contains(string(answer), "completed") {
			t.Fatalf("request %d: %d %v %.1000s", i+1, status, h, answer)
		}
	}
}
