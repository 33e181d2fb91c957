package demo

import (
	"fmt"
	"strings"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

// beat is one thing that happens in the story: the person says something, or the agent makes a request.
type beat struct {
	user  string // what the person says; "" in a request
	agent string // what the model answers
	calls []call // and calls
	aside string // the question of a request beside the conversation, "" in an ordinary one
	last  int    // how many messages such a request takes along
}

// call is one tool call of the model, with what it gives back.
type call struct {
	id, name, arguments string
	result              string
	interrupted         bool // the person stopped it: no result ever
}

// reply is what the upstream shall answer.
func (b beat) reply() strict.Reply {
	r := strict.Reply{Text: b.agent}
	for _, c := range b.calls {
		r.Calls = append(r.Calls, strict.Call{ID: c.id, Type: "function", Name: c.name, Arguments: c.arguments})
	}
	return r
}

// messages is what the client appends to its history after the answer.
func (b beat) messages() []openai.ChatCompletionMessage {
	said := openai.ChatCompletionMessage{Role: "assistant", Content: b.agent}
	out := []openai.ChatCompletionMessage{said}
	for _, c := range b.calls {
		out[0].ToolCalls = append(out[0].ToolCalls, openai.ToolCall{
			ID: c.id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: c.name, Arguments: c.arguments},
		})
		if !c.interrupted {
			out = append(out, openai.ChatCompletionMessage{Role: "tool", ToolCallID: c.id, Content: c.result})
		}
	}
	return out
}

// what names the tools of a beat: "read ×2, run".
func (b beat) what() string {
	if b.aside != "" {
		return "aside: commit text"
	}
	if b.calls == nil {
		return "answers"
	}
	var names []string
	count := map[string]int{}
	for _, c := range b.calls {
		name, _, _ := strings.Cut(c.name, "_") // read_file is read
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if count[name] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, count[name])
		}
	}
	return strings.Join(names, ", ")
}
