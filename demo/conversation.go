package demo

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

var (
	//go:embed conversation.json
	recorded []byte // a chat request, as it would be sent
	//go:embed aside.json
	recordedAside []byte
)

// conversation is a coding agent's work on a small Go service, as a chat
// request: every assistant message in it is the answer to one request.
type conversation struct {
	Model    string
	Tools    []openai.Tool
	Messages []openai.ChatCompletionMessage
	// Aside is a request beside the conversation, as agents make for titles and
	// commit messages: the end of the history, cut anywhere, and a question.
	Aside struct {
		After    int // messages of the conversation
		Last     int // of them are taken along
		Question string
		Answer   string
	}
}

func load() *conversation {
	c := &conversation{}
	if err := cmp.Or(json.Unmarshal(recorded, c), json.Unmarshal(recordedAside, &c.Aside)); err != nil {
		panic("BUG: the conversation of the demo is not JSON: " + err.Error())
	}
	return c
}

// requests returns how many requests the conversation takes, at most limit, and
// how many messages they need; 0 means no limit.
func (c *conversation) requests(limit int) (n, messages int) {
	for i, m := range c.Messages {
		if m.Role == "assistant" && n == limit && limit > 0 {
			return n, i
		}
		if m.Role == "assistant" {
			n++
		}
		if i+1 == c.Aside.After {
			n++
		}
	}
	return n, len(c.Messages)
}

// aside returns the messages of the request beside the conversation.
func (c *conversation) aside() []openai.ChatCompletionMessage {
	a := &c.Aside
	return slices.Concat(c.Messages[:1], c.Messages[a.After-a.Last:a.After], []openai.ChatCompletionMessage{{Role: "user", Content: a.Question}})
}

// interrupted reports whether a call of the message at index i never got a
// result.
func (c *conversation) interrupted(i int) bool {
	for n, call := range c.Messages[i].ToolCalls {
		if at := i + 1 + n; at == len(c.Messages) || c.Messages[at].ToolCallID != call.ID {
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
