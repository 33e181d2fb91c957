package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"

	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/summarize/prompt"
)

// mostAnswer bounds what is read of a summarizer's answer, in bytes.
const mostAnswer = 1 << 20

// request asks the model once. What goes out is what is written here: nothing
// of the client's request but, if so configured, its credential.
func (s *summaries) request(ctx context.Context, credential http.Header, p prompt.Prompt, answer int, bare bool) (prompt.Answer, error) {
	config := openai.DefaultConfig("")
	if !s.o.ClientCredential {
		config = openai.DefaultConfig(string(s.o.Key))
	}
	config.HTTPClient = &http.Client{
		Transport: &guarded{next: s.transport, to: access.UpstreamURL(s.o.Upstream, chatPath), credential: credential},
		// A redirect would take the transcript where nobody sent it.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := openai.NewClientWithConfig(config).CreateChatCompletion(ctx, chatRequest(s.o.Model, p, s.o.allowed(answer), bare))
	if err != nil {
		return prompt.Answer{}, err
	}
	if len(res.Choices) == 0 {
		return prompt.Answer{}, prompt.Empty
	}
	c := res.Choices[0]
	a := prompt.Answer{Text: c.Message.Content, Finish: string(c.FinishReason), Calls: len(c.Message.ToolCalls)}
	if c.Message.FunctionCall != nil {
		a.Calls++
	}
	return a, nil
}

// chatRequest is what is sent. bare: without a limit and a temperature.
func chatRequest(model string, p prompt.Prompt, most int, bare bool) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{
		Model: model,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: p.System},
			{Role: openai.ChatMessageRoleUser, Content: p.User},
		},
	}
	if bare {
		return req
	}
	if reasons(model) {
		req.MaxCompletionTokens = most
		return req
	}
	//lint:ignore SA1019 every endpoint but OpenAI's newest models knows only this one
	req.MaxTokens = most
	req.Temperature = 0.2
	return req
}

// reasons tells whether a model takes max_completion_tokens and no temperature,
// which is what OpenAI's reasoning models insist on.
func reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// guarded is what a summarizer's answers come through: read to a limit, whole,
// and only if they are an answer at all.
type guarded struct {
	next       http.RoundTripper
	to         *url.URL
	credential http.Header
}

// chatPath is where a client would send such a request.
var chatPath = &url.URL{Path: "/v1/chat/completions"}

// RoundTrip sends one request.
func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL, r.Host = g.to, g.to.Host
	for name, values := range g.credential {
		r.Header[name] = values
	}
	r.Header.Set(headerSummary, "1")
	r.Header.Set("User-Agent", "laconic")
	res, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, statusError(res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > mostAnswer, !utf8.Valid(body), !looksLikeObject(body):
		return nil, prompt.Unreadable
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return res, nil
}

// looksLikeObject tells an answer from a web page or an event stream.
func looksLikeObject(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 1 && body[0] == '{' && body[len(body)-1] == '}'
}

// statusError is a status other than 200.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status_%d", int(e)) }

// unwilling tells whether a server may have refused a request for its limit or
// its temperature: many models write no more than 4,096 or 8,192 tokens and
// refuse whoever allows them more, some take no temperature, and some know only
// the newer name of the limit. An answer is bounded here in any case.
func unwilling(err error) bool {
	var status statusError
	return errors.As(err, &status) && (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity)
}

// final tells whether asking again can only give the same.
func final(err error) bool {
	var status statusError
	if errors.As(err, &status) {
		return status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout && status != http.StatusConflict
	}
	return false
}

// codeSummarizerUnreachable is the reason of a job whose summarizer did not answer.
const codeSummarizerUnreachable = "unreachable"

// failureOf says in a word why there is no answer: for logs and counters, so
// never with what a server wrote.
func failureOf(ctx context.Context, err error) string {
	var refused prompt.Refused
	var status statusError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &refused):
		return string(refused)
	case errors.As(err, &status):
		return status.Error()
	}
	if _, ok := apierror.NetworkReason(err); ok {
		return codeSummarizerUnreachable
	}
	return string(prompt.Unreadable)
}

// clientCredential is what of a client's headers a summarizer may get, where
// it gets the client's credential.
func clientCredential(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "Openai-Organization", "Openai-Project"} {
		if v := h.Values(name); len(v) > 0 {
			out[name] = append([]string(nil), v...)
		}
	}
	return out
}
