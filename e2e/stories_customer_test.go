package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sashabaranov/go-openai"
)

var customerCommands = map[string]scriptCommand{"customer": customer}

// customer: customer [FLAG]… QUESTION is a program that uses go-openai, with no
// setting but the base URL of the proxy. It prints what the library gives it:
// text, calls, usage, or the fields of its error.
//
//	-key K     its API key (sk-customer)
//	-stream    a streamed answer, with usage
//	-tools     it offers a tool
//	-history N it has a history of N tool rounds, of which the first was cut off
func customer(ts *testscript.TestScript, neg bool, args []string) {
	key, stream, tools, rounds := "sk-customer", false, false, 0
	rest := flags(ts, args, 1, 1, func(f *flag.FlagSet) {
		f.StringVar(&key, "key", key, "")
		f.BoolVar(&stream, "stream", false, "")
		f.BoolVar(&tools, "tools", false, "")
		f.IntVar(&rounds, "history", 0, "")
	})
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	conf := openai.DefaultConfig(key)
	conf.BaseURL = ts.Getenv("PROXY") + "/v1"
	conf.HTTPClient = &http.Client{Transport: transport, Timeout: patience}
	c := openai.NewClientWithConfig(conf)

	req := openai.ChatCompletionRequest{Model: "gpt-4o", Messages: pastRounds(rounds)}
	req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: "user", Content: rest[0]})
	if tools {
		req.Tools = []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: "read_file", Parameters: map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}},
		}}}
	}
	var out string
	var err error
	if stream {
		out, err = streamedBy(c, req)
	} else {
		out, err = inOnePiece(c, req)
	}
	if (err != nil) != neg {
		ts.Fatalf("error %v", err)
	}
	_, err = io.WriteString(ts.Stdout(), out+told(err))
	ts.Check(err)
}

// pastRounds is a history that begins in the middle of a tool round, as one is
// left by clients that drop their oldest messages.
func pastRounds(n int) []openai.ChatCompletionMessage {
	var ms []openai.ChatCompletionMessage
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		if i > 0 {
			ms = append(ms, openai.ChatCompletionMessage{Role: "assistant", ToolCalls: []openai.ToolCall{
				{ID: id, Type: "function", Function: openai.FunctionCall{Name: "read_file", Arguments: `{"path":"a"}`}},
			}})
		}
		ms = append(ms, openai.ChatCompletionMessage{Role: "tool", ToolCallID: id, Content: strings.Repeat("a line of the file\n", 40)})
	}
	return ms
}

func inOnePiece(c *openai.Client, req openai.ChatCompletionRequest) (string, error) {
	res, err := c.CreateChatCompletion(context.Background(), req)
	if err != nil {
		return "", err
	}
	m := res.Choices[0].Message
	return said(m.Content, m.ToolCalls, &res.Usage) + "outcome: " + res.Header().Get("x-laconic-outcome") + "\n", nil
}

func streamedBy(c *openai.Client, req openai.ChatCompletionRequest) (string, error) {
	req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	s, err := c.CreateChatCompletionStream(context.Background(), req)
	if err != nil {
		return "", err
	}
	defer s.Close()
	var text string
	var calls []openai.ToolCall
	var usage *openai.Usage
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return said(text, calls, usage) + "outcome: " + s.Header().Get("x-laconic-outcome") + "\n", nil
		}
		if err != nil {
			return said(text, calls, usage), err
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
		for _, choice := range chunk.Choices {
			text += choice.Delta.Content
			for _, d := range choice.Delta.ToolCalls {
				if *d.Index == len(calls) {
					calls = append(calls, d)
					continue
				}
				calls[*d.Index].Function.Arguments += d.Function.Arguments
			}
		}
	}
}

// said is an answer as lines.
func said(text string, calls []openai.ToolCall, usage *openai.Usage) string {
	var b strings.Builder
	if text != "" {
		fmt.Fprintf(&b, "text: %s\n", text)
	}
	for _, c := range calls {
		fmt.Fprintf(&b, "call: %s %s\n", c.Function.Name, c.Function.Arguments)
	}
	if usage != nil && usage.TotalTokens == usage.PromptTokens+usage.CompletionTokens && usage.PromptTokens > 0 {
		fmt.Fprintf(&b, "usage: told\n")
	}
	return b.String()
}

// told is an error as a program sees it that asks the library for its parts.
func told(err error) string {
	var api *openai.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		param := "null"
		if api.Param != nil {
			param = *api.Param
		}
		return fmt.Sprintf("APIError: %d %s, code %v, param %s\n%s\n", api.HTTPStatusCode, api.Type, api.Code, param, api.Message)
	}
	return fmt.Sprintf("error: %v\n", err)
}
