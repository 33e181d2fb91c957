package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// ask sends the messages and reads the answer. An answer that is an error is in refused;
// err is set if no answer came.
func ask(ctx context.Context, c *openai.Client, req openai.ChatCompletionRequest) (x exchange, err error) {
	ctx, cancel := context.WithTimeout(ctx, perRequest)
	defer cancel()
	if x.body, err = json.Marshal(req); err != nil {
		return x, err
	}
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
