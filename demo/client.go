package demo

import (
	"bytes"
	"context"
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

// client is an ordinary client of the chat API. It keeps the body of its last
// request and the headers of the answer, which go-openai does not return with an
// error.
type client struct {
	api       *openai.Client
	transport *http.Transport
	body      []byte
	header    http.Header
}

func newClient(base string) *client {
	c := &client{transport: &http.Transport{}}
	conf := openai.DefaultConfig("sk-demo")
	conf.BaseURL = base
	conf.HTTPClient = &http.Client{Transport: c}
	c.api = openai.NewClientWithConfig(conf)
	return c
}

func (c *client) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.body, c.header = body, nil
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := c.transport.RoundTrip(r)
	if err == nil {
		c.header = resp.Header
	}
	return resp, err
}

// exchange is a request and its answer.
type exchange struct {
	body    []byte      // as the client sent it
	header  http.Header // of the answer
	reply   strict.Reply
	cached  int   // tokens of the prompt, as the answer says
	refused error // the proxy or the upstream answered with an error
}

// ask sends the messages and reads the answer to its end. The error is set if there
// is no answer or the answer breaks off, but not for an error answer.
func (c *client) ask(ctx context.Context, req openai.ChatCompletionRequest) (exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, perRequest)
	defer cancel()
	req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := c.api.CreateChatCompletionStream(ctx, req)
	x := exchange{body: c.body, header: c.header}
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
