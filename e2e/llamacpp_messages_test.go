package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

const messagesPath = "/v1/messages"

// agentBlocks is a request as Claude Code sends it, after n calls: a system message
// stands behind the task and behind each result.
func agentBlocks(n, words int) []byte {
	text := func(text string) []object { return []object{{"type": "text", "text": text}} }
	list := []object{
		{"role": "user", "content": []object{{"type": "text", "text": "<system-reminder>be kind</system-reminder>"}, {"type": "text", "text": "mend it"}}},
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

// TestLlamaCppMessages: the messages API in front of a server of which nothing is
// known. What is too long is refused, folded and answered, and so is a list that its
// template does not take; the next request is right at once.
func TestLlamaCppMessages(t *testing.T) {
	t.Parallel()
	file := model(t, "")
	for _, c := range []struct {
		name, template string
		body           []byte
		want           string // of what the server says to it
	}{
		{"too long", chatML, agentBlocks(30, 100), "exceed_context_size_error"},
		{"the system message first", "Qwen3.5-4B", agentBlocks(3, 20), "System message must be at the beginning"},
		{"both", "Qwen3.5-4B", agentBlocks(30, 100), "System message must be at the beginning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := startLlama(t, append(template(t, c.template), "-m", file, "-c", "2048")...)
			l.secret = true
			if status, _, answer := postJSON(t, l.direct+messagesPath, c.body); status < 400 || !bytes.Contains(answer, []byte(c.want)) {
				t.Fatalf("llama-server takes it: %d %s", status, answer)
			}
			p := startLaconic(t, l.URL+"/v1", "")
			answered := false
			for i := range 3 {
				body := c.body
				if i == 2 {
					body = with(body, `"stream":true`)
				}
				status, h, answer := postJSON(t, p.URL+messagesPath, body)
				all := l.came()
				t.Logf("request %d: %d %s, asked %d times: %.200s", i+1, status, h.Get("X-Laconic-Outcome"), len(all), answer)
				if i == 0 && status != http.StatusOK && c.name == "both" {
					continue // it is refused for the one, and then for the other
				}
				if status != http.StatusOK || bytes.Contains(answer, []byte(`"error"`)) || answered && len(all) > 1 {
					t.Errorf("request %d: %d, asked %d times: %.500s", i+1, status, len(all), answer)
				}
				answered = true
				if i < 2 && gjson.GetBytes(answer, "type").String() != "message" || i == 2 && !bytes.Contains(answer, []byte("message_stop")) {
					t.Errorf("request %d: %.500s", i+1, answer)
				}
			}
			_, _, counted := postJSON(t, p.URL+messagesPath+"/count_tokens", agentBlocks(1, 20))
			if n := gjson.GetBytes(counted, "input_tokens").Int(); c.template == chatML && (n < 50 || n > 1000) {
				t.Errorf("counted: %s", counted)
			}
		})
	}
}
