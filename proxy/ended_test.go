package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"

	"laconic/proxy/wire"
)

// Answers under 200 that a full window ended, as their upstreams write them, and
// answers that look like one.
func TestAnswersThatAFullWindowEnded(t *testing.T) {
	const delta = `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"half a sen"},"finish_reason":null}]}` + "\n\n"
	for _, c := range []struct{ name, want, body string }{
		{"z.ai", wire.AtWindow, `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"half a sen"},"finish_reason":"model_context_window_exceeded"}],"usage":{"prompt_tokens":199000,"completion_tokens":1000}}`},
		{"z.ai, stream", wire.AtWindow, delta + `data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"model_context_window_exceeded"}],"usage":{"prompt_tokens":199000,"completion_tokens":1000}}` + "\n\ndata: [DONE]\n\n"},
		{"mimo", wire.BeforeOutput, `{"id":"x","choices":[{"finish_reason":"length","index":0,"message":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":262143,"completion_tokens":0,"total_tokens":262143}}`},
		{"mimo, stream", wire.BeforeOutput, `data: {"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n" +
			`data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n" +
			`data: {"id":"x","choices":[],"usage":{"prompt_tokens":262143,"completion_tokens":0}}` + "\n\ndata: [DONE]\n\n"},
		{"lm studio, stream", wire.Empty, "data: [DONE]\n\n"},
		{"lm studio, stream with usage", wire.Empty, `data: {"id":"x","object":"chat.completion.chunk","choices":[]}` + "\n\ndata: [DONE]\n\n"},

		{"an answer", "", plainAnswer},
		{"a long one", "", `{"choices":[{"message":{"content":"x"},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":10}}`},
		{"a long one, usage unknown", "", `{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}`},
		{"a stream", "", delta + "data: [DONE]\n\n"},
		{"a long stream", "", strings.Repeat(delta, 100) + "data: {\"choices\":[]}\n\n" + strings.Repeat(": alive\n\n", 1000) + "data: [DONE]\n\n"},
		{"a stream without [DONE]", wire.WithoutDone, delta},
		{"the same with a comment behind it", wire.WithoutDone, delta + ": bye\n"},
		{"the same, longer than what is looked at", wire.WithoutDone, strings.Repeat(delta, 100)},
		{"an event without its empty line", wire.HalfEvent, delta + `data: {"choices":[]}` + "\n"},
		{"the same, CRLF", wire.HalfEvent, strings.ReplaceAll(delta, "\n", "\r\n") + `data: {"choices":[]}` + "\r\n"},
		{"half a line", wire.HalfEvent, delta + `data: {"id":"x","object":"chat.com`},
		{"half a long line", wire.HalfEvent, delta + `data: {"id":"` + strings.Repeat("x", 3000)},
		{"[DONE] without its empty line", "", delta + "data: [DONE]"},
		{"a quotation", "", `{"choices":[{"finish_reason":"stop","message":{"content":"\"finish_reason\":\"model_context_window_exceeded\""}}]}`},
	} {
		var log logged
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			if strings.HasPrefix(c.body, "data:") {
				w.Header().Set("Content-Type", "text/event-stream")
			}
			_, _ = io.WriteString(w, c.body)
		})
		p := inFrontOf(t, u, func(o *Options) { o.Listener = LogTo(log.at(zap.InfoLevel)) })
		p.chat(chatBody)
		if r := p.replies(1)[0]; r.Ended != c.want {
			t.Errorf("%s: %q, want %q", c.name, r.Ended, c.want)
		}
		if said := strings.Contains(log.text(), `"ended":"`+c.want+`"`); said != (c.want != "") {
			t.Errorf("%s: %s", c.name, log.text())
		}
		if n := len(u.requests()); n != 1 {
			t.Errorf("%s: %d hits", c.name, n)
		}
	}
}
