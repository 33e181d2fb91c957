package strict_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"go.uber.org/goleak"

	"laconic/demo/strict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clientOf runs an upstream on loopback and returns a client of it.
func clientOf(t *testing.T, o strict.Options) *openai.Client {
	t.Helper()
	srv := httptest.NewServer(strict.New(o))
	conf := openai.DefaultConfig("sk-test")
	conf.BaseURL = srv.URL + "/v1"
	transport := &http.Transport{}
	conf.HTTPClient = &http.Client{Transport: transport, Timeout: 20 * time.Second}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	return openai.NewClientWithConfig(conf)
}

func ask1(text string) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{Model: "gpt-4o", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: text}}}
}

var twoCalls = []strict.Call{{Name: "read", Arguments: `{"path":"a/rather/long/path/to/a/file.go"}`}, {ID: "mine", Name: "list", Arguments: `{}`}}

func TestAGoClientReadsWholeAnswers(t *testing.T) {
	client := clientOf(t, strict.Options{Reply: func(*strict.Request) strict.Reply {
		return strict.Reply{Text: "Let me look.", Calls: twoCalls}
	}})
	resp, err := client.CreateChatCompletion(context.Background(), ask1("hi"))
	if err != nil {
		t.Fatal(err)
	}
	m := resp.Choices[0].Message
	if m.Content != "Let me look." || len(m.ToolCalls) != 2 || m.ToolCalls[0].ID == "" || m.ToolCalls[1].ID != "mine" ||
		m.ToolCalls[0].Function.Arguments != twoCalls[0].Arguments || resp.Choices[0].FinishReason != "tool_calls" {
		t.Errorf("got %+v", resp.Choices[0])
	}
	if resp.Usage.PromptTokens != 9 || resp.Usage.TotalTokens != 9+resp.Usage.CompletionTokens || resp.Usage.CompletionTokens < 10 {
		t.Errorf("usage %+v", resp.Usage)
	}
	if twoCalls[0].ID != "" {
		t.Error("the script's own calls were changed")
	}
}

func TestCachedTokens(t *testing.T) {
	up := strict.New(strict.Options{Count: func(m strict.Message) int { return len(m.Text) }})
	long := func(n int, letter string) string {
		b, _ := json.Marshal(map[string]string{"role": "user", "content": strings.Repeat(letter, n)})
		return string(b)
	}
	f := func(want int, messages ...string) {
		t.Helper()
		text := taken(t, up, "/v1/chat/completions", chat(messages...))
		var answer struct {
			Usage struct {
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if got := answer.Usage.Details.Cached; got != want {
			t.Errorf("got %d cached, want %d", got, want)
		}
	}
	a, b, c := long(1000, "a"), long(200, "b"), long(500, "c")
	f(0, a, b)
	f(1152, a, b, c)                                                                   // 1,200 in common, rounded down to a step of 128
	f(1664, a, b, c)                                                                   // all 1,700 of it
	f(0, a, c)                                                                         // 1,000 in common: below 1,024 nothing is cached
	f(0, b, a)                                                                         // another beginning
	f(1152, a, `{ "content":"`+strings.Repeat("b", 200)+`",  "role":"user","x":1}`, b) // what the model reads counts, not the bytes
}
