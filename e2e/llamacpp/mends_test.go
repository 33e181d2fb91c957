package llamacpp_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/e2e/rig"
)

const (
	messagesPath  = "/v1/messages"
	responsesPath = "/v1/responses"
)

// agentBlocks is a request as Claude Code sends it, after n calls: a system message
// stands behind the task and behind each result.
func agentBlocks(n, words int) []byte {
	text := func(text string) []object { return []object{{"type": "text", "text": text}} }
	list := []object{
		{"role": "user", "content": append(text("<system-reminder>be kind</system-reminder>"), text("mend it")...)},
		{"role": "system", "content": "the folder is /src"},
	}
	for i := range n {
		id := fmt.Sprint("toolu_", i)
		list = append(list,
			object{"role": "assistant", "content": append(text("on"), object{"type": "tool_use", "id": id, "name": "look", "input": object{"at": fmt.Sprint(i)}})},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": fmt.Sprint("seen ", i, strings.Repeat(" word", words))}}},
			object{"role": "system", "content": fmt.Sprintf("<total_tokens>%d tokens left</total_tokens>", 100000-i)})
	}
	look := object{"name": "look", "description": "Looks.", "input_schema": object{"type": "object", "properties": object{"at": object{"type": "string"}}}}
	return marshal(object{"model": "my-model", "max_tokens": 4, "system": text("You are an agent."), "messages": list, "tools": []object{look}})
}

// items is a request of the responses API.
func items(stream bool, calls int, said ...string) []byte {
	var list []object
	for i, text := range said {
		role := "developer"
		if i == len(said)-1 {
			role = "user"
		}
		list = append(list, object{"type": "message", "role": role, "content": []object{{"type": "input_text", "text": text}}})
	}
	for n := range calls {
		id := fmt.Sprintf("call_%d", n)
		list = append(list,
			object{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": "read", "arguments": fmt.Sprintf(`{"path":"file%d.go"}`, n), "status": "completed"},
			object{"type": "function_call_output", "call_id": id, "output": strings.Repeat(fmt.Sprintf("line of file %d\n", n), 60)})
	}
	tools := []object{{"type": "function", "name": "read", "parameters": object{"type": "object", "properties": object{"path": object{"type": "string"}}}}}
	return marshal(object{"model": "my-model", "store": false, "stream": stream, "input": list, "tools": tools, "max_output_tokens": 4})
}

// TestLlamaCppMends: a server refuses what is too long, or a list whose order its chat
// template does not take. Through Laconic the request is answered, by each API, the
// template writes all of its texts, and the next request is right at once.
func TestLlamaCppMends(t *testing.T) {
	t.Parallel()
	chat := func(messages ...object) []byte {
		request := object{"model": "my-model", "messages": messages, "max_tokens": 1}
		if bytes.Contains(marshal(messages), []byte("tool_calls")) {
			request["tools"] = []object{tool("look", "Looks.")}
		}
		return marshal(request)
	}
	after := func(first object, next []object, last ...object) []byte {
		return chat(append(append([]object{first}, next...), last...)...)
	}
	const first = "System message must be at the beginning"
	file := model(t, "")
	// f asks with a window that the server tells, 0: of 4,096, or that is a secret. texts
	// are those that the template must write.
	f := func(template, name, path string, window int, request []byte, refusal string, texts ...string) {
		t.Run(template+"/"+name, func(t *testing.T) {
			l := startLlama(t, file, template, cmp.Or(window, 4096))
			l.secret = window > 0
			if status, _, answer := rig.Post(t, l.direct+path, request); status < 400 || !bytes.Contains(answer, []byte(refusal)) {
				t.Fatalf("llama-server takes it: %d %s", status, answer)
			}
			p := rig.Start(t, l.URL+"/v1", "")
			for i, most := range []int{2, 1, 1} {
				if name == "both" && i == 0 {
					most = 3 // it is refused for the one, and then for the other
				}
				body, want := request, map[string]string{completions: "choices", messagesPath: `"type":"message"`, responsesPath: "completed"}[path]
				if path == messagesPath && i == 2 {
					body, want = with(body, `"stream":true`), "message_stop"
				}
				status, h, answer := rig.Post(t, p.URL+path, body)
				all := l.came()
				t.Logf("request %d: %d %s, asked %d times", i+1, status, h.Get("X-Laconic-Outcome"), len(all))
				if status != http.StatusOK || len(all) > most || !bytes.Contains(answer, []byte(want)) || bytes.Contains(answer, []byte(`"error":{`)) {
					t.Fatalf("request %d: %d, asked %d times: %.1000s", i+1, status, len(all), answer)
				}
				if len(texts) > 0 {
					_, _, prompt := rig.Post(t, l.direct+"/apply-template", all[len(all)-1].body)
					for _, text := range texts {
						if !bytes.Contains(prompt, []byte(text)) {
							t.Errorf("request %d: the model does not read %q: %s", i+1, text, prompt)
						}
					}
				}
			}
			if path == messagesPath && template == chatML {
				_, _, counted := rig.Post(t, p.URL+messagesPath+"/count_tokens", agentBlocks(1, 20))
				if n := gjson.GetBytes(counted, "input_tokens").Int(); n < 50 || n > 1000 {
					t.Errorf("counted: %s", counted)
				}
			}
		})
	}
	f("Qwen3.5-4B", "system in the middle", completions, 0,
		chat(says("system", "be brief"), says("user", "one"), says("assistant", "first"), says("system", "now in French"), says("user", "two")), first, "be brief", "one", "first", "now in French", "two")
	f("Qwen3.5-4B", "two at the head", completions, 0,
		chat(says("system", "be brief"), says("developer", "be polite"), says("user", "one")), first, "be brief", "be polite", "one")
	f("Qwen3.5-4B", "developer behind results", completions, 0,
		after(says("user", "one"), calls("a"), says("developer", "be quick")), first, "one", "seen a", "be quick")
	f("meta-llama-Llama-3.1-8B-Instruct", "two calls at once", completions, 0,
		after(says("user", "one"), calls("a", "b")), "", "one", "seen a", "seen b")
	f("mistralai-Mistral-Nemo-Instruct-2407", "IDs that are not of nine characters", completions, 0,
		after(says("user", "one"), calls("call_0123456789")), "", "one", "seen call_0123456789")
	f("mistralai-Ministral-3-14B-Reasoning-2512", "two users in a row", completions, 0,
		chat(says("user", "one"), says("assistant", "first"), says("user", "two"), says("user", "three")), "", "one", "first", "two", "three")
	f("google-gemma-2-2b-it", "two users behind an answer", completions, 0,
		chat(says("user", "one"), says("assistant", "first"), says("user", "two"), says("user", "three")), "", "one", "first", "two", "three")
	f(chatML, "blocks that are too long", messagesPath, 2048, agentBlocks(30, 100), "exceed_context_size_error")
	f("Qwen3.5-4B", "blocks with the system message first", messagesPath, 2048, agentBlocks(3, 20), first)
	f("Qwen3.5-4B", "both", messagesPath, 2048, agentBlocks(30, 100), first)
	f("Qwen3.5-4B", "items that are too long", responsesPath, 0, items(false, 30, "be brief", "read all files"), "")
	f("Qwen3.5-4B", "a stream of items", responsesPath, 0, items(true, 30, "be brief", "read all files"), "")
	// Codex begins with two messages of the developer.
	f("Qwen3.5-4B", "two developers", responsesPath, 0, items(false, 0, "be brief", "there are no skills", "hello"), "")
}
