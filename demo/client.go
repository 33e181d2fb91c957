package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

// perRequest is the deadline of a request.
const perRequest = time.Minute

func newClient(base string) *openai.Client {
	conf := openai.DefaultConfig("sk-demo")
	conf.BaseURL = base
	conf.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return openai.NewClientWithConfig(conf)
}

// exchange is a request and its answer.
type exchange struct {
	body    []byte      // as the client sent it
	header  http.Header // of the answer; nil for a refusal
	reply   strict.Reply
	cached  int   // tokens of the prompt, as the answer says
	refused error // the proxy or the upstream answered with an error
}

// ask sends the messages and reads the answer to its end. The error is set if there
// is no answer or the answer breaks off, but not for an error answer.
func ask(ctx context.Context, c *openai.Client, req openai.ChatCompletionRequest) (x exchange, err error) {
	ctx, cancel := context.WithTimeout(ctx, perRequest)
	defer cancel()
	req.Stream, req.StreamOptions = true, &openai.StreamOptions{IncludeUsage: true}
	if x.body, err = json.Marshal(req); err != nil {
		return x, err
	}
	stream, err := c.CreateChatCompletionStream(ctx, req)
	var answered *openai.APIError
	var unreadable *openai.RequestError // an error answer that is not OpenAI's JSON
	switch {
	case errors.As(err, &answered), errors.As(err, &unreadable):
		x.refused = err
		return x, nil
	case err != nil:
		return x, fmt.Errorf("no answer from the proxy: %w", err)
	}
	defer stream.Close()
	x.header = stream.Header()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return x, nil
		}
		if err != nil {
			return x, fmt.Errorf("the answer broke off: %w", err)
		}
		if u := chunk.Usage; u != nil && u.PromptTokensDetails != nil {
			x.cached = u.PromptTokensDetails.CachedTokens
		}
		for _, choice := range chunk.Choices {
			x.reply.Text += choice.Delta.Content
			for _, d := range choice.Delta.ToolCalls {
				if d.ID != "" { // a new call
					x.reply.Calls = append(x.reply.Calls, strict.Call{ID: d.ID, Type: string(d.Type), Name: d.Function.Name})
				}
				if n := len(x.reply.Calls); n > 0 {
					x.reply.Calls[n-1].Arguments += d.Function.Arguments
				}
			}
		}
	}
}
