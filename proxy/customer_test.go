package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
)

// customer is go-openai pointed at the proxy.
func customer(p *running) *openai.Client {
	c := openai.DefaultConfig("sk-customer")
	c.BaseURL = p.url + "/v1"
	c.HTTPClient = client
	return openai.NewClientWithConfig(c)
}

func TestGoOpenAIIsServed(t *testing.T) {
	next := make(chan bool, 100)
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"gpt-4o","object":"model"}]}`)
			return
		}
		if r.Header.Get("Accept") != "text/event-stream" {
			_, _ = io.WriteString(w, plainAnswer)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for _, word := range []string{"one ", "two ", "three"} {
			<-next
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", word)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n")
	})
	p := inFrontOf(t, u)
	c := customer(p)
	messages := []openai.ChatCompletionMessage{{Role: "user", Content: "hello"}}
	answer, err := c.CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{Model: "gpt-4o", Messages: messages})
	if err != nil || answer.Choices[0].Message.Content != "hi" || answer.Header().Get("X-Laconic-Outcome") != "untouched" {
		t.Errorf("%+v %v", answer, err)
	}
	next <- true // headers come with the first event
	stream, err := c.CreateChatCompletionStream(t.Context(), openai.ChatCompletionRequest{Model: "gpt-4o", Messages: messages})
	if err == nil {
		var text string
		for i := 0; ; i++ {
			chunk, err := stream.Recv()
			next <- true // the next event comes only after this one was received
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				break
			}
			if len(chunk.Choices) > 0 {
				text += chunk.Choices[0].Delta.Content
			}
		}
		if text != "one two three" {
			t.Errorf("%q", text)
		}
		_ = stream.Close()
	} else {
		t.Error(err)
	}
	if models, err := c.ListModels(t.Context()); err != nil || len(models.Models) != 1 {
		t.Errorf("%v %v", models, err)
	}
	for _, r := range p.replies(3) {
		if r.Streamed && (r.Usage == nil || r.Usage.Prompt != 5 || !r.Done) {
			t.Errorf("%+v", r)
		}
	}
	for _, got := range u.requests() {
		if got.Header.Get("Authorization") != "Bearer sk-customer" {
			t.Errorf("%v", got.Header)
		}
	}
}

func TestGoOpenAIReadsOurErrors(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u, func(o *Options) { o.Default.Policy.Reject = true; o.Default.Limits.Budget = 3 })
	_, err := customer(p).CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{
		Model: "gpt-4o", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "a b c d e f"}},
	})
	var e *openai.APIError
	if !errors.As(err, &e) || e.HTTPStatusCode != 400 || e.Code != "context_length_exceeded" || *e.Param != "messages" || e.Type != "invalid_request_error" {
		t.Errorf("%+v", err)
	}
}

func TestABrokenStreamIsAnErrorForGoOpenAI(t *testing.T) {
	base, _ := rawUpstream(t, func(conn *net.TCPConn, _ *http.Request) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		event := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n"
		_, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(event), event)
	})
	stream, err := customer(start(t, options(base))).CreateChatCompletionStream(t.Context(), openai.ChatCompletionRequest{
		Model: "gpt-4o", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "x"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the end was clean: %v", err)
	}
}
