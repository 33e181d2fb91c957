package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// itemsBody is a request of the API of responses with some rounds, each with a result
// of so many words.
func itemsBody(rounds, words int, more string) string {
	items := []string{`{"type":"message","role":"user","content":[{"type":"input_text","text":"read all of them"}]}`}
	for i := range rounds {
		items = append(items,
			fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[],"encrypted_content":"gAAA"}`, i),
			fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"read","arguments":"{\"n\":%d}"}`, i, i, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, i, strings.TrimSpace(strings.Repeat("word ", words))))
	}
	return `{"model":"gpt-5","store":false,"stream":true,"instructions":"be brief","input":[` + strings.Join(items, ",") + `]` + more + `}`
}

func event(kind, data string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"," + data + "}\n\n"
}

// TestARefusalBehindTheEventsThatOpenAStream is cured, and learnt: what opens a stream
// echoes the request, and the client reads one whole stream.
func TestARefusalBehindTheEventsThatOpenAStream(t *testing.T) {
	echo := `"response":{"id":"resp_1","model":"gpt-5","tools":"` + strings.Repeat("a tool and what it takes ", 4000) + `"}`
	opening := event("response.created", echo) + event("response.in_progress", echo)
	const (
		words = `"code":"context_length_exceeded","message":"This model's maximum context length is 2000 tokens. However, your messages resulted in 3200 tokens."`
		usage = `"usage":{"input_tokens":900,"input_tokens_details":{"cached_tokens":640},"output_tokens":3,"total_tokens":903}`
	)
	answer := opening + event("response.output_text.delta", `"delta":"fine"`) + event("response.completed", `"response":{"id":"resp_1","model":"gpt-5","output":[],`+usage+`}`)
	for name, failure := range map[string]string{
		"an error":         event("error", words),
		"an error within":  event("error", `"error":{`+words+`}`),
		"a failure":        event("response.failed", `"response":{"tools":"`+strings.Repeat("tool ", 20_000)+`","error":{`+words+`},"status":"failed"}`),
		"a failure, plain": "data: " + `{"response":{"error":{` + words + `},"status":"failed"},"type":"response.failed"}` + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			u := answering(t, func(w http.ResponseWriter, body []byte) bool {
				if strings.Count(string(body), "word") > 2000 {
					flushed(w, "text/event-stream", opening, failure)
				} else {
					flushed(w, "text/event-stream", answer)
				}
				return true
			})
			p := inFrontOf(t, u, windowed(100_000))
			post := func(body string) response {
				return p.do("POST", "/v1/responses", strings.NewReader(body), "Content-Type", "application/json")
			}
			if res := post(itemsBody(30, 100, "")); res.StatusCode != 200 || string(res.body) != answer {
				t.Fatalf("%d, %d bytes, want the %d of one stream\n%.300s", res.StatusCode, len(res.body), len(answer), res.body)
			}
			u.saw(t, 2)
			r := p.replies(1)[0]
			if r.Retry == nil || !r.Retry.Answered || r.Retry.Limit != 2000 || r.Outcome != Retried {
				t.Errorf("%+v", r.Retry)
			}
			if r.Usage == nil || r.Usage.Prompt != 900 || r.Usage.Cached != 640 || r.Usage.Completion != 3 {
				t.Errorf("usage %+v", r.Usage)
			}
			if res := post(itemsBody(30, 100, "")); string(res.body) != answer || len(u.requests()) != 3 {
				t.Errorf("the same again: %d hits, want one more", len(u.requests()))
			}
		})
	}
}

// TestResponsesThatPass unread, or end early, are named.
func TestResponsesThatPass(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, event("response.created", `"response":{}`)+event("response.output_text.delta", `"delta":"half"`))
	})
	p := inFrontOf(t, u)
	body := itemsBody(3, 900, `,"previous_response_id":"resp_0"`)
	res := p.do("POST", "/openai/v1/responses", strings.NewReader(body), "Content-Type", "application/json")
	if res.Header.Get("X-Laconic-Outcome") != "passed" || string(u.requests()[0].Body) != body {
		t.Errorf("%v", res.Header)
	}
	if r := p.replies(1)[0]; r.Ended != "without_done" || r.Wire != "responses" {
		t.Errorf("flaw %q of wire %q", r.Ended, r.Wire)
	}
	if res := p.do("POST", "/v1/responses", strings.NewReader(itemsBody(3, 900, ""))); res.Header.Get("X-Laconic-Outcome") != "compacted" {
		t.Errorf("outcome %q", res.Header.Get("X-Laconic-Outcome"))
	}
	if r := p.do("POST", "/v1/responses/resp_1/cancel", strings.NewReader("{}")); r.Header.Get("X-Laconic-Outcome") != "passed" {
		t.Errorf("a path below is read: %v", r.Header)
	}
}
