package e2e

import (
	"bytes"
	"net/http"
	"testing"
)

// TestLlamaCppRoles: chat templates that refuse the order of a list which others take.
// What loses nothing makes it one that they take; the text is all there, and the next
// request is right at once.
func TestLlamaCppRoles(t *testing.T) {
	t.Parallel()
	calls := func(ids ...string) (all []object) {
		var list []object
		for _, id := range ids {
			list = append(list, toolCall(id, "look", "{}"))
			all = append(all, object{"role": "tool", "tool_call_id": id, "content": "seen " + id})
		}
		return append([]object{{"role": "assistant", "content": "", "tool_calls": list}}, all...)
	}
	file := model(t, "")
	look := []object{{"type": "function", "function": object{"name": "look", "parameters": object{"type": "object", "properties": object{}}}}}
	for _, c := range []struct {
		template, name string
		tools          []object
		messages       []object
		texts          []string // that the template must write
	}{
		{
			"Qwen3.5-4B", "system in the middle", nil,
			[]object{says("system", "be brief"), says("user", "one"), says("assistant", "first"), says("system", "now in French"), says("user", "two")},
			[]string{"be brief", "one", "first", "now in French", "two"},
		},
		{
			"Qwen3.5-4B", "two at the head", nil,
			[]object{says("system", "be brief"), says("developer", "be polite"), says("user", "one")},
			[]string{"be brief", "be polite", "one"},
		},
		{
			"Qwen3.5-4B", "developer behind results", look,
			append(append([]object{says("user", "one")}, calls("a")...), says("developer", "be quick")),
			[]string{"one", "seen a", "be quick"},
		},
		{
			"meta-llama-Llama-3.1-8B-Instruct", "two calls at once", look,
			append([]object{says("user", "one")}, calls("a", "b")...),
			[]string{"one", "seen a", "seen b"},
		},
		{
			"mistralai-Mistral-Nemo-Instruct-2407", "ids that are not of nine characters", look,
			append([]object{says("user", "one")}, calls("call_0123456789")...),
			[]string{"one", "seen call_0123456789"},
		},
		{
			"mistralai-Ministral-3-14B-Reasoning-2512", "two users in a row", nil,
			[]object{says("user", "one"), says("assistant", "first"), says("user", "two"), says("user", "three")},
			[]string{"one", "first", "two", "three"},
		},
		{
			"google-gemma-2-2b-it", "two users behind an answer", nil,
			[]object{says("user", "one"), says("assistant", "first"), says("user", "two"), says("user", "three")},
			[]string{"one", "first", "two", "three"},
		},
	} {
		t.Run(c.template+"/"+c.name, func(t *testing.T) {
			l := startLlama(t, append(template(t, c.template), "-m", file, "-c", "4096")...)
			p := startLaconic(t, l.URL+"/v1", "")
			request := object{"model": "my-model", "messages": c.messages, "max_tokens": 1}
			if c.tools != nil {
				request["tools"] = c.tools
			}
			body := marshal(request)
			if status, _, answer := postJSON(t, l.direct+completions, body); status < 400 {
				t.Fatalf("the template takes it: %d %s", status, answer)
			}
			for i, most := range []int{2, 1} {
				status, _, answer := postJSON(t, p.URL+completions, body)
				all := l.came()
				if status != http.StatusOK || len(all) > most {
					t.Fatalf("request %d: %d, asked %d times: %.1000s", i+1, status, len(all), answer)
				}
				_, _, prompt := postJSON(t, l.direct+"/apply-template", all[len(all)-1].body)
				for _, text := range c.texts {
					if !bytes.Contains(prompt, []byte(text)) {
						t.Errorf("request %d: the model does not read %q: %s", i+1, text, prompt)
					}
				}
			}
		})
	}
}
