package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

// perRequest is the deadline of a request.
const perRequest = time.Minute

// exchange is a request and its answer.
type exchange struct {
	body    []byte      // as the client sent it
	header  http.Header // of the answer; nil for a refusal
	reply   strict.Reply
	cached  int   // tokens of the prompt, as the answer says
	refused error // the proxy or the upstream answered with an error
}

// ask sends the messages and reads the answer. An answer that is an error is in refused;
// err is set if no answer came.
func ask(ctx context.Context, c *openai.Client, req openai.ChatCompletionRequest) (x exchange, err error) {
	ctx, cancel := context.WithTimeout(ctx, perRequest)
	defer cancel()
	x.body, _ = json.Marshal(req) // the client does the same, and says what is wrong
	res, err := c.CreateChatCompletion(ctx, req)
	var answered *openai.APIError
	var unreadable *openai.RequestError // an error answer that is not OpenAI's JSON
	switch {
	case errors.As(err, &answered), errors.As(err, &unreadable):
		x.refused = err
		return x, nil
	case err != nil:
		return x, fmt.Errorf("no answer from the proxy: %w", err)
	}
	x.header = res.Header()
	for _, choice := range res.Choices {
		x.reply = reply(&choice.Message)
	}
	if d := res.Usage.PromptTokensDetails; d != nil {
		x.cached = d.CachedTokens
	}
	return x, nil
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
