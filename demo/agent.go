package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

// perRequest is the deadline of a request.
const perRequest = time.Minute

// ask sends the messages and reads the answer. An answer that is an error is in refused;
// err is set if no answer came.
func ask(ctx context.Context, c *openai.Client, req openai.ChatCompletionRequest) (t turn, err error) {
	ctx, cancel := context.WithTimeout(ctx, perRequest)
	defer cancel()
	t.body, _ = json.Marshal(req) // the client does the same, and says what is wrong
	res, err := c.CreateChatCompletion(ctx, req)
	var answered *openai.APIError
	var unreadable *openai.RequestError // an error answer that is not OpenAI's JSON
	switch {
	case errors.As(err, &answered), errors.As(err, &unreadable):
		t.refused = err
		return t, nil
	case err != nil:
		return t, fmt.Errorf("no answer from the proxy: %w", err)
	}
	t.header = res.Header()
	for _, choice := range res.Choices {
		t.reply = reply(&choice.Message)
	}
	if d := res.Usage.PromptTokensDetails; d != nil {
		t.cached = d.CachedTokens
	}
	return t, nil
}

// recorded is a coding agent's work on a small Go service, as a chat request that would be
// sent: every assistant message in it is the answer to one request.
//
//go:embed conversation.json
var recorded []byte

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
