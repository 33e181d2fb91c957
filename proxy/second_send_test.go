package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/proxy/apierror"
	"laconic/proxy/wire"
)

// A compacted body that is refused for another reason is replaced once by the
// original, while that fits.
func TestARefusedCompactedBodyIsReplacedByTheOriginal(t *testing.T) {
	body := agentBody(30, 100)
	f := func(name string, window, status int, answer string, hits, want int) {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				if r.ContentLength != int64(len(body)) {
					w.WriteHeader(status)
					_, _ = io.WriteString(w, answer)
					return
				}
				_, _ = io.WriteString(w, plainAnswer)
			})
			p := inFrontOf(t, u, windowed(window))
			res := p.chat(body, "Content-Md5", "of the original")
			if res.StatusCode != want || len(u.requests()) != hits {
				t.Fatalf("%d after %d hits: %s", res.StatusCode, len(u.requests()), res.body)
			}
			first := u.requests()[0]
			if bytes.Equal(first.Body, []byte(body)) || first.Header.Get("Content-Md5") != "" {
				t.Error("the first body was not compacted, or carried the other's digest")
			}
			if hits == 2 {
				if last := u.requests()[1]; string(last.Body) != body {
					t.Errorf("the second body is not the client's own: %v", last.Header)
				}
				if o := res.Header.Get("X-Laconic-Outcome"); o != "retried" || res.Header.Get("X-Laconic-Stages") != "" {
					t.Errorf("%v", res.Header)
				}
			}
		})
	}
	const odd = `{"error":{"message":"something odd about messages[2]","type":"invalid_request_error"}}`
	f("400", 3600, 400, odd, 2, 200)
	f("422", 3600, 422, `{"detail":[]}`, 2, 200)
	f("empty", 3600, 400, "", 2, 200)
	f("does not fit", 2600, 400, odd, 1, 400)
	f("500", 3600, 500, odd, 1, 500)
	f("403", 3600, 403, odd, 1, 403)
}

// A request that is too long, and whose roles the template does not take, is refused
// for the one and then for the other. Both are cured before the client sees any of it,
// and the next request is sent once.
func TestTwoRefusalsForTwoReasonsAreCured(t *testing.T) {
	body := strings.Replace(agentBody(30, 100), `],"temp`, `,{"role":"developer","content":"be kind"},{"role":"user","content":"go on"}],"temp`, 1)
	for _, lengthFirst := range []bool{true, false} {
		u := answering(t, func(w http.ResponseWriter, sent []byte) bool {
			r, err := wire.Chat.Decode(sent)
			if err != nil {
				t.Error(err)
				return false
			}
			said, words := qwen(r.Conversation.Messages), wordsIn(sent)
			switch long := words > 2000; {
			case long && (lengthFirst || said == ""):
				says(w, words, 2000)
			case said != "":
				saysTemplate(w, 500, said)
			}
			return words > 2000 || said != ""
		})
		p := inFrontOf(t, u, windowed(100_000))
		for turn, hits := range []int{3, 1} {
			before := len(u.requests())
			res := p.chat(body)
			if n := len(u.requests()) - before; res.StatusCode != 200 || string(res.body) != plainAnswer || n != hits {
				t.Errorf("length first %v, request %d: %d after %d hits, want %d: %s", lengthFirst, turn+1, res.StatusCode, n, hits, res.body)
			}
		}
		want := []string{reasonTemplate, reasonOverflow}
		if lengthFirst {
			slices.Reverse(want)
		}
		if i := p.replies(1)[0].Retry; i.Reason != want[0] || i.Then != want[1] || !i.Answered {
			t.Errorf("length first %v: %+v", lengthFirst, i)
		}
		if f := p.factsOf("gpt-4o"); f.Demands.Value != compact.OneSystem || f.Window.Value == 0 && f.Input.Value == 0 {
			t.Errorf("length first %v: learnt %+v", lengthFirst, f)
		}
	}
}

// A refusal of the prompt alone says nothing of the answer: most upstreams take a prompt
// that fits. One that counts both refuses once more, and that is cured before the
// client sees any of it. The next request is sent once.
func TestTheAnswerIsKeptFreeOnceItWasRefused(t *testing.T) {
	const limit, asked = 2000, 900
	body := strings.Replace(agentBody(30, 100), `],"temp`, fmt.Sprintf(`],"max_tokens":%d,"temp`, asked), 1)
	for _, together := range []bool{false, true} {
		u := answering(t, func(w http.ResponseWriter, body []byte) bool {
			words, said := wordsIn(body), ""
			switch {
			case words > limit:
				said = fmt.Sprintf("your messages resulted in %d tokens. Please reduce the length of the messages.", words)
			case together && words+asked > limit:
				said = fmt.Sprintf("you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.", words+asked, words, asked)
			}
			return said != "" && refuses(w, "This model's maximum context length is %d tokens. However, %s", limit, said)
		})
		p := inFrontOf(t, u, windowed(100_000))
		first := map[bool]int{false: 2, true: 3}[together]
		for turn, hits := range []int{first, 1} {
			before := len(u.requests())
			if res := p.chat(body); res.StatusCode != 200 || string(res.body) != plainAnswer || len(u.requests())-before != hits {
				t.Errorf("together %v, request %d: %d after %d hits, want %d: %s", together, turn+1, res.StatusCode, len(u.requests())-before, hits, res.body)
			}
		}
		all := u.requests()
		if words := wordsIn(all[len(all)-1].Body); (words > limit-asked) == together || !bytes.Equal(all[first-1].Body, all[first].Body) {
			t.Errorf("together %v: %d words were sent at last", together, words)
		}
		if i, f := p.replies(1)[0].Retry, p.factsOf("gpt-4o"); f.Together.Value != together || (i.Then != "") != together || f.Window.Value != limit || f.Input.Value != 0 {
			t.Errorf("together %v: %+v, learnt %+v", together, i, f)
		}
	}
}

// The count that a refusal shows holds for the second body, also where that very
// request was the first of its conversation to be folded.
func TestTheSecondBodyIsPlannedByTheCountOfTheRefusal(t *testing.T) {
	const window = 3000
	u := answering(t, func(w http.ResponseWriter, body []byte) bool {
		tokens := 2 * wordsIn(body)
		if tokens > window {
			says(w, tokens, window)
		}
		return tokens > window
	})
	p := inFrontOf(t, u, calibrating, windowed(window))
	for turn, hits := range []int{2, 1} {
		before := len(u.requests())
		if res := p.chat(strings.Replace(agentBody(30, 100), "be brief", strings.Repeat("brief ", 900), 1)); res.StatusCode != 200 || len(u.requests())-before != hits {
			t.Errorf("request %d: %d after %d hits, want %d: %s", turn+1, res.StatusCode, len(u.requests())-before, hits, res.body)
		}
	}
}

// An upstream that keeps idempotency keys gives back what it answered to the
// first body, whatever comes under its key.
func TestTheSecondBodyHasNotTheFirstOnesKey(t *testing.T) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "X_Idempotency_Key"} {
		refused := map[string]bool{}
		u := newLimited(t, 2000, says)
		limited := u.Config.Handler
		u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := r.Header.Get(name)
			if key != "" && refused[key] {
				says(w, 3100, 2000)
				return
			}
			refused[key] = true
			limited.ServeHTTP(w, r)
		})
		p := inFrontOf(t, u, windowed(100_000))
		p.chat(agentBody(30, 100), name, "k1").want(t, 200, name)
		if first := u.requests()[0].Header.Get(name); first != "k1" {
			t.Errorf("%s: the first had %q", name, first)
		}
		if f := p.replies(1)[0].Rewrite.Facts; f.Input.Value != 0 {
			t.Errorf("%s: a replay was learnt from: %+v", name, f)
		}
	}
}

// A client that leaves while the second body is under way has left: the first
// refusal is not why the request ended.
func TestAClientThatLeavesDuringTheSecondSend(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"by a status":        func(w http.ResponseWriter) { says(w, 3300, 2000) },
		"by the first event": func(w http.ResponseWriter) { flushed(w, "text/event-stream", lateRefusal) },
	} {
		sent, gone := make(chan struct{}), make(chan struct{})
		hit := 0
		u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			if hit++; hit == 1 {
				refuse(w)
				return
			}
			close(sent)
			<-r.Context().Done()
			close(gone)
		})
		p := inFrontOf(t, u, windowed(100_000))
		conn := dial(t, p.addr)
		_, _ = io.WriteString(conn, post("", agentBody(30, 100)))
		<-sent
		_ = conn.Close()
		<-gone
		if r := p.replies(1)[0]; r.Status != StatusClientLeft || r.Code != apierror.CodeClientLeft {
			t.Errorf("%s: %d %q", name, r.Status, r.Code)
		}
	}
}
