package summarize

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/summarize/prompt"
)

// mostAnswer bounds what is read of a summarizer's answer, in bytes.
const mostAnswer = 1 << 20

// chatRequest is what a summarizer is asked.
type chatRequest struct {
	Model               string        `json:"model"`
	Stream              bool          `json:"stream"` // some servers stream unless they are told
	Messages            []chatMessage `json:"messages"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	Temperature         float64       `json:"temperature,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// chatAnswer is what is read of an answer.
type chatAnswer struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content      string
			ToolCalls    []struct{} `json:"tool_calls"`
			FunctionCall *struct{}  `json:"function_call"`
		}
	}
}

// request asks the model once. Nothing of the client's request is sent but, if the
// options say so, its credential. A redirect is not followed: it would take the
// transcript where nobody sent it.
func (s *Service) request(ctx context.Context, credential http.Header, p prompt.Prompt, answer int, bare bool) (prompt.Answer, error) {
	text, _ := json.Marshal(s.o.asked(p, answer, bare)) // texts and numbers
	to := access.UpstreamURL(s.o.Upstream, &url.URL{Path: "/v1" + access.ChatCompletions})
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(text)) // of a URL that was parsed
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, Header: {"1"}, "User-Agent": {"laconic"}}
	if !s.o.ClientCredential && s.o.Key != "" {
		r.Header.Set("Authorization", "Bearer "+string(s.o.Key))
	}
	maps.Copy(r.Header, credential)
	res, err := s.env.Transport.RoundTrip(r)
	if err != nil {
		return prompt.Answer{}, err
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return prompt.Answer{}, statusError(res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	if err != nil {
		return prompt.Answer{}, err
	}
	var a chatAnswer
	if len(body) > mostAnswer || !utf8.Valid(body) || json.Unmarshal(body, &a) != nil {
		return prompt.Answer{}, prompt.Unreadable
	}
	if len(a.Choices) == 0 {
		return prompt.Answer{}, prompt.Empty
	}
	first := a.Choices[0]
	called := len(first.Message.ToolCalls) > 0 || first.Message.FunctionCall != nil
	return prompt.Answer{Text: first.Message.Content, Finish: first.FinishReason, Called: called}, nil
}

// asked returns the request for an answer of so many tokens; if bare, without a limit
// and a temperature.
func (o *Options) asked(p prompt.Prompt, answer int, bare bool) chatRequest {
	r := chatRequest{Model: o.Model, Messages: []chatMessage{{"system", p.System}, {"user", p.User}}}
	switch {
	case bare:
	case reasons(o.Model):
		r.MaxCompletionTokens = o.allowed(answer)
	default: // every endpoint but OpenAI's newest models knows only this limit
		r.MaxTokens, r.Temperature = o.allowed(answer), 0.2
	}
	return r
}

// reasons reports whether a model takes max_completion_tokens and no temperature,
// as OpenAI's reasoning models do.
func reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	families := []string{"o1", "o3", "o4", "gpt-5", "gpt-6"}
	return slices.ContainsFunc(families, func(family string) bool { return strings.HasPrefix(name, family) })
}

// statusError is a status of failure.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status_%d", int(e)) }

// statusOf returns the status of an error, 0 if it has none.
func statusOf(err error) (status statusError) {
	_ = errors.As(err, &status)
	return status
}

// final reports whether asking again would have the same result.
func final(err error) bool {
	switch status := statusOf(err); status {
	case 0, http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusConflict:
		return false
	default:
		return status < 500
	}
}

// failureOf returns in a word why there is no answer. It is for logs and counters
// and holds nothing that a server wrote.
func failureOf(ctx context.Context, err error) string {
	var refused prompt.Refused
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &refused):
		return string(refused)
	case statusOf(err) != 0:
		return statusOf(err).Error()
	}
	if _, ok := apierror.NetworkReason(err); ok {
		return "unreachable"
	}
	return string(prompt.Unreadable)
}

// clientCredential returns the headers of a client that the model gets with the
// client's credential.
func clientCredential(h http.Header) http.Header {
	names := []string{"Authorization", "Api-Key", "X-Api-Key", "Openai-Organization", "Openai-Project"}
	out := h.Clone()
	maps.DeleteFunc(out, func(name string, _ []string) bool { return !slices.Contains(names, name) })
	return out
}
