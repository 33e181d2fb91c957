package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

// perRequest ends a request that nobody answers.
const perRequest = time.Minute

// client is an ordinary user of the chat API: go-openai, streaming, the whole history every time.
type client struct {
	api       *openai.Client
	tap       *tap
	transport *http.Transport
}

func newClient(base string) *client {
	transport := &http.Transport{}
	t := &tap{next: transport}
	conf := openai.DefaultConfig("sk-demo")
	conf.BaseURL = base
	conf.HTTPClient = &http.Client{Transport: t}
	return &client{api: openai.NewClientWithConfig(conf), tap: t, transport: transport}
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// exchange is one request and what came back.
type exchange struct {
	body    []byte      // as the client sent it
	header  http.Header // of the answer
	text    string
	calls   []strict.Call
	refused error // the proxy or the upstream answered with an error
}

// ask sends the messages and reads the answer to its end. It fails when there is no answer at all or when it
// breaks off; an error answer is no failure of ask.
func (c *client) ask(ctx context.Context, messages []openai.ChatCompletionMessage) (exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, perRequest)
	defer cancel()
	stream, err := c.api.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{
		Model: model, Messages: messages, Tools: tools,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	})
	x := exchange{body: c.tap.body, header: c.tap.header}
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
		for _, choice := range chunk.Choices {
			x.text += choice.Delta.Content
			for _, d := range choice.Delta.ToolCalls {
				x.addCall(d)
			}
		}
	}
}

// addCall puts a piece of a streamed call where it belongs.
func (x *exchange) addCall(d openai.ToolCall) {
	at := len(x.calls)
	if d.Index != nil {
		at = *d.Index
	}
	for len(x.calls) <= at {
		x.calls = append(x.calls, strict.Call{})
	}
	c := &x.calls[at]
	c.ID += d.ID
	c.Type += string(d.Type)
	c.Name += d.Function.Name
	c.Arguments += d.Function.Arguments
}

// same says whether the answer arrived as it was written.
func (x *exchange) same(r strict.Reply) bool {
	return x.text == r.Text && slices.Equal(x.calls, r.Calls)
}

// tap notes the bytes of the last request and the headers of its answer. go-openai keeps neither for errors.
type tap struct {
	next   http.RoundTripper
	body   []byte
	header http.Header
}

func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	t.body, t.header = body, nil
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := t.next.RoundTrip(r)
	if err == nil {
		t.header = resp.Header
	}
	return resp, err
}
