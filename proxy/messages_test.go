package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// blocksBody is a request of the messages API with n calls, whose results have so many
// words.
func blocksBody(n, words int) string {
	var b strings.Builder
	b.WriteString(`{"model":"small","max_tokens":100,"system":[{"type":"text","text":"Be an agent."}],"messages":[{"role":"user","content":[{"type":"text","text":"mend it"}]}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"on"},{"type":"tool_use","id":"toolu_%d","name":"read","input":{"path":"%d.go"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, i, strings.Repeat("word ", words))
	}
	return b.String() + `]}`
}

func (r *running) messages(body string) response {
	return r.do("POST", "/v1/messages?beta=true", strings.NewReader(body), "Content-Type", "application/json")
}

// TestMessagesAreFoldedAndSentAgain: a window that a refusal states is learnt in
// each upstream's words, and the client sees none of it; what is sent is legal.
func TestMessagesAreFoldedAndSentAgain(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter, words, limit int){
		"llama.cpp": says,
		"Anthropic": func(w http.ResponseWriter, words, limit int) {
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %d tokens > %d maximum"},"request_id":"req_1"}`, words, limit)
		},
		"vLLM": func(w http.ResponseWriter, words, limit int) {
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"BadRequestError","message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages."}}`, limit, words)
		},
		"Bedrock": func(w http.ResponseWriter, _, _ int) {
			w.WriteHeader(400)
			_, _ = fmt.Fprint(w, `{"message":"Input is too long for requested model."}`)
		},
		"in a stream": func(w http.ResponseWriter, words, limit int) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n"+
				"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: %d tokens > %d maximum\"}}\n\n", words, limit)
		},
	} {
		t.Run(name, func(t *testing.T) {
			limit := 700
			if name == "Bedrock" {
				limit = 1200 // it states none, so the next body is shorter by a guess
			}
			u := answering(t, func(w http.ResponseWriter, body []byte) bool {
				switch n := wordsIn(body); {
				case n > limit:
					refuse(w, n, limit)
				case name == "in a stream":
					flushed(w, "text/event-stream", "event: message_start\ndata: {}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
				default:
					return false
				}
				return true
			})
			p := inFrontOf(t, u, windowed(2000))
			body := blocksBody(30, 40)
			res := p.messages(body)
			seen := u.requests()
			if res.StatusCode != 200 || len(seen) != 2 || string(seen[0].Body) != body {
				t.Fatalf("%d, %d requests: %s", res.StatusCode, len(seen), res.body)
			}
			if _, no := strict.New(strict.Options{}).Read("/messages", seen[1].Body); no != nil {
				t.Errorf("%v\n%s", no, seen[1].Body)
			}
			if r := p.replies(1)[0]; r.Retry == nil || !r.Retry.Answered || r.Wire != "messages" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestErrorsOfMessages: those of the upstream arrive as they are, and our own in the
// API's envelope and words.
func TestErrorsOfMessages(t *testing.T) {
	const overloaded = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_2"}`
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Request-Id", "req_2")
		w.WriteHeader(529)
		_, _ = w.Write([]byte(overloaded))
	})
	p := inFrontOf(t, u, func(o *Options) { o.Default.Policy.Reject, o.Default.Policy.Ladder = true, nil })
	res := p.messages(blocksBody(1, 2))
	if res.StatusCode != 529 || string(res.body) != overloaded || res.Header.Get("Request-Id") != "req_2" {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	res = p.messages(blocksBody(30, 60))
	var e struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if err := json.Unmarshal(res.body, &e); err != nil || res.StatusCode != 400 || e.Type != "error" || e.Error.Type != "invalid_request_error" ||
		!strings.HasPrefix(e.Error.Message, "prompt is too long: ") || !strings.HasSuffix(e.Error.Message, " tokens > 1000 maximum") {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
}

// TestTokensAreCountedWhereNobodyElseDoes: what would be sent, where the upstream has
// no such path, and the upstream's own answer where it has.
func TestTokensAreCountedWhereNobodyElseDoes(t *testing.T) {
	status, answer := 404, "404 page not found\n"
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	})
	p := inFrontOf(t, u)
	count := func(body, want string, wantStatus int) {
		t.Helper()
		res := p.do("POST", "/v1/messages/count_tokens", strings.NewReader(body), "Content-Type", "application/json")
		if res.StatusCode != wantStatus || strings.TrimSpace(string(res.body)) != want {
			t.Errorf("%d %s, want %d %s", res.StatusCode, res.body, wantStatus, want)
		}
	}
	tokens := func(body string) (n int) {
		res := p.do("POST", "/v1/messages/count_tokens", strings.NewReader(body), "Content-Type", "application/json")
		_, _ = fmt.Sscanf(string(res.body), `{"input_tokens":%d}`, &n)
		return n
	}
	small, large := tokens(blocksBody(2, 10)), tokens(blocksBody(40, 60))
	if small < 20 || small > 60 || large <= small || large > 1000 {
		t.Errorf("%d and %d tokens", small, large)
	}
	count(`{"messages":[]}`, "404 page not found", 404)
	status, answer = 200, `{"error":"Unexpected endpoint or method. (POST /v1/messages/count_tokens)"}` // of LM Studio
	if own := tokens(blocksBody(2, 10)); own != small {
		t.Errorf("%d tokens in the place of an error, want %d", own, small)
	}
	if status = 501; tokens(blocksBody(2, 10)) != small {
		t.Error("501 is not answered")
	}
	status, answer = 404, `{"type":"error","error":{"type":"not_found_error","message":"model: small"}}`
	count(blocksBody(2, 10), answer, 404)
	status, answer = 200, `{"input_tokens":2095}`
	count(blocksBody(2, 10), answer, 200)
	all := u.requests()
	if got := all[len(all)-1]; got.URI != "/v1/messages/count_tokens" || string(got.Body) != blocksBody(2, 10) {
		t.Errorf("it did not arrive as it was: %s %s", got.URI, got.Body)
	}
}

// TestClaudeCodeAsksBesides: a request of one message is sent as it came, however
// long.
func TestClaudeCodeAsksBesides(t *testing.T) {
	u, p := plain(t)
	title := `{"model":"small","max_tokens":512,"temperature":1,"system":[{"type":"text","text":"Give this session a title."}],"messages":[{"role":"user","content":[{"type":"text","text":"` +
		strings.Repeat("word ", 3000) + `"}]}],"stream":false}`
	p.messages(title)
	if got := u.requests(); string(got[0].Body) != title {
		t.Errorf("it arrived as %.300s", got[0].Body)
	}
}
