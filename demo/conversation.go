package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

//go:embed conversation.json
var recorded []byte // a chat request, as it would be sent

// load returns a coding agent's work on a small Go service: every assistant message in
// it is the answer to one request.
func load() (c openai.ChatCompletionRequest) {
	if err := json.Unmarshal(recorded, &c); err != nil {
		panic("BUG: the conversation of the demo is not JSON: " + err.Error())
	}
	return c
}

// interrupted reports whether a call of the message at index i never got a
// result.
func interrupted(messages []openai.ChatCompletionMessage, i int) bool {
	for n, call := range messages[i].ToolCalls {
		if at := i + 1 + n; at == len(messages) || messages[at].ToolCallID != call.ID {
			return true
		}
	}
	return false
}

// reply returns the upstream's answer for which the client gets m.
func reply(m *openai.ChatCompletionMessage) strict.Reply {
	r := strict.Reply{Text: m.Content}
	for _, c := range m.ToolCalls {
		r.Calls = append(r.Calls, strict.Call{ID: c.ID, Type: "function", Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return r
}

// tools returns the names of the tools that a message calls: "read ×2, run".
func tools(m *openai.ChatCompletionMessage) string {
	var names []string
	count := map[string]int{}
	for _, c := range m.ToolCalls {
		name, _, _ := strings.Cut(c.Function.Name, "_") // read_file is read
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if count[name] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, count[name])
		}
	}
	if names == nil {
		return "answers"
	}
	return strings.Join(names, ", ")
}
