package summarize

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

// request asks the model once. Nothing of the client's request is sent but, if
// the options say so, its credential.
func (s *Service) request(ctx context.Context, credential http.Header, p prompt.Prompt, answer int, bare bool) (prompt.Answer, error) {
	config := openai.DefaultConfig("")
	if !s.o.ClientCredential {
		config = openai.DefaultConfig(string(s.o.Key))
	}
	config.HTTPClient = &http.Client{
		Transport: &guarded{next: s.o.Transport, to: access.UpstreamURL(s.o.Upstream, chatPath), credential: credential},
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

// chatRequest returns what is sent; if bare, without a limit and a temperature.
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

// reasons reports whether a model takes max_completion_tokens and no temperature,
// as OpenAI's reasoning models do.
func reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// guarded is a transport that returns whole answers of limited size, and errors
// for all that is no answer.
type guarded struct {
	next       http.RoundTripper
	to         *url.URL
	credential http.Header
}

// chatPath is where a client sends such a request.
var chatPath = &url.URL{Path: "/v1/chat/completions"}

// RoundTrip sends one request.
func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL, r.Host = g.to, g.to.Host
	for name, values := range g.credential {
		r.Header[name] = values
	}
	r.Header.Set(Header, "1")
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

// looksLikeObject reports whether a body is an answer, not a web page or an event
// stream.
func looksLikeObject(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 1 && body[0] == '{' && body[len(body)-1] == '}'
}

// statusError is a status of failure.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status_%d", int(e)) }

// unwilling reports whether a server may have refused a request for its limit or
// its temperature. Many models refuse a limit above 4,096 or 8,192 tokens, some
// take no temperature, and some know only the newer name of the limit.
func unwilling(err error) bool {
	var status statusError
	return errors.As(err, &status) && (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity)
}

// final reports whether asking again would have the same result.
func final(err error) bool {
	var status statusError
	if errors.As(err, &status) {
		return status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout && status != http.StatusConflict
	}
	return false
}

// failureOf returns in a word why there is no answer. It is for logs and counters
// and holds nothing that a server wrote.
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
		return "unreachable"
	}
	return string(prompt.Unreadable)
}

// clientCredential returns the headers of a client that the model gets with the
// client's credential.
func clientCredential(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "Openai-Organization", "Openai-Project"} {
		if v := h.Values(name); len(v) > 0 {
			out[name] = append([]string(nil), v...)
		}
	}
	return out
}
