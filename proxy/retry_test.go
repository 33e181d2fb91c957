package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy/apierror"
	"laconic/proxy/overflow"

	"laconic/proxy/learn"
)

// limited is an upstream that refuses prompts of more than limit words, with a
// body made of what it counted.
type limited struct {
	*upstream
	limit  atomic.Int64
	refuse func(w http.ResponseWriter, words, limit int)
}

// wordsIn counts a request as the proxy's test counter does, roughly: what
// matters is that more text counts more.
func wordsIn(body []byte) int {
	var v struct {
		Messages []struct {
			Content any
			Calls   []any `json:"tool_calls"`
		}
	}
	if json.Unmarshal(body, &v) != nil {
		return -1
	}
	n := 0
	for _, m := range v.Messages {
		n += 1 + len(strings.Fields(fmt.Sprint(m.Content))) + 2*len(m.Calls)
	}
	return n
}

func newLimited(t testing.TB, limit int, refuse func(w http.ResponseWriter, words, limit int)) *limited {
	u := &limited{refuse: refuse}
	u.limit.Store(int64(limit))
	u.upstream = newUpstream(t, nil)
	u.Config.Handler = u.recording2()
	return u
}

func (u *limited) recording2() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		u.recording(func(w http.ResponseWriter, _ *http.Request) {
			if n, limit := wordsIn(body), int(u.limit.Load()); limit >= 0 && n > limit {
				u.refuse(w, n, limit)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, plainAnswer)
		})(w, r)
	}
}

// says refuses in the words of llama.cpp.
func says(w http.ResponseWriter, words, limit int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Upstream", "refused")
	w.WriteHeader(400)
	_, _ = fmt.Fprintf(w, `{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, words, limit, words, limit)
}

// windowed sets a window instead of a budget.
func windowed(window int) func(*Options) {
	return func(o *Options) { o.Default.Limits = compact.Limits{Window: window} }
}

func TestARefusedRequestIsFoldedAgainAndAnswered(t *testing.T) {
	u := newLimited(t, 2000, says)
	p := inFrontOf(t, u.upstream, windowed(100_000))
	body := agentBody(30, 100) // some 3,100 words
	res := p.chat(body)
	if res.StatusCode != 200 || string(res.body) != plainAnswer || res.Header.Get("X-Laconic-Outcome") != "retried" {
		t.Fatalf("%d %s %v", res.StatusCode, res.body, res.Header)
	}
	if n := len(u.requests()); n != 2 {
		t.Fatalf("%d hits, want 2", n)
	}
	r := p.replies(1)[0]
	second := u.requests()[1].Body
	if res := p.chat(body); res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != "compacted" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	// The next turn is answered after one hit, and begins as this one did.
	next := strings.Replace(body, `],"temp`, `,{"role":"assistant","content":"done"},{"role":"user","content":"and now"}],"temp`, 1)
	if res := p.chat(next); res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != "compacted" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	all := u.requests()
	if len(all) != 4 || !bytes.Equal(all[2].Body, second) {
		t.Errorf("%d hits, and the same request was sent as\n%s\nand\n%s", len(all), second, all[2].Body)
	}
	stem, _, _ := bytes.Cut(second, []byte(`],"temp`))
	if !bytes.HasPrefix(all[3].Body, stem) {
		t.Errorf("the next turn does not begin as the one before:\n%s\n%s", stem, all[3].Body)
	}
	if i := r.Retry; i == nil || !i.Sent || !i.Answered || i.Status != 200 || i.Limit != 2000 || i.Prompt < 3000 || i.Second >= i.First || i.Reason != "overflow" || i.Kind != "prompt" {
		t.Errorf("%+v", r.Retry)
	}
	if r.Outcome != Retried || r.Rewrite.Outcome != Retried || r.Rewrite.Facts.Window.Value != 2000 {
		t.Errorf("%+v", r)
	}
	for _, r := range p.replies(3)[1:] {
		if r.Retry != nil || r.Rewrite.Facts.Window.Value != 2000 {
			t.Errorf("%+v", r.Rewrite.Facts)
		}
	}
}

func TestASecondRefusalGivesTheClientTheFirst(t *testing.T) {
	n := 0
	for name, again := range map[string]http.HandlerFunc{
		"refused again": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Upstream", "second")
			says(w, 900, 800)
		},
		"429":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429); _, _ = io.WriteString(w, "second") },
		"401":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401); _, _ = io.WriteString(w, "second") },
		"500":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); _, _ = io.WriteString(w, "second") },
		"redirect": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", "/"); w.WriteHeader(307) },
		"cut":      func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"event": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"error\":{\"message\":\"out of memory\"}}\n\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			n = 0
			u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				if n++; n == 1 {
					says(w, 3300, 2000)
					return
				}
				again(w, r)
			})
			p := inFrontOf(t, u, windowed(100_000))
			res := p.chat(agentBody(30, 100))
			want := `{"error":{"code":400,"message":"request (3300 tokens) exceeds the available context size (2000 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":3300,"n_ctx":2000}}`
			if res.StatusCode != 400 || string(res.body) != want || res.Header.Get("X-Upstream") != "refused" || len(res.Header.Values("X-Upstream")) != 1 {
				t.Errorf("%d %s %v", res.StatusCode, res.body, res.Header)
			}
			if hits := len(u.requests()); hits != 2 {
				t.Errorf("%d hits", hits)
			}
			if r := p.replies(1)[0]; r.Retry == nil || !r.Retry.Sent || r.Retry.Answered || r.Status != 400 || r.Own {
				t.Errorf("%+v", r.Retry)
			}
		})
	}
}

// After these statuses nothing is ever sent again, whatever the body says.
func TestSomeStatusesAreNeverTriedAgain(t *testing.T) {
	for _, status := range []int{401, 402, 403, 404, 408, 409, 429, 502, 503, 504, 529} {
		for _, over := range []bool{false, true} {
			u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"error":{"message":"prompt is too long: 3300 tokens > 2000 maximum","code":"context_length_exceeded"}}`)
			})
			p := inFrontOf(t, u, windowed(map[bool]int{false: 100_000, true: 3000}[over]))
			res := p.chat(agentBody(30, 100))
			if res.StatusCode != status || len(u.requests()) != 1 {
				t.Errorf("%d: %d after %d hits", status, res.StatusCode, len(u.requests()))
			}
			if r := p.replies(1)[0]; status != 429 && r.Retry != nil {
				t.Errorf("%d: %+v", status, r.Retry)
			}
		}
	}
}

// A rate that one request passes is no matter of waiting. The client comes
// again by itself after a 429; then it fits.
func TestAQuotaIsLearntAndNotTriedAgain(t *testing.T) {
	u := newLimited(t, 2000, func(w http.ResponseWriter, words, limit int) {
		w.WriteHeader(429)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit %d, Requested %d. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, limit, words)
	})
	p := inFrontOf(t, u.upstream, windowed(100_000))
	if res := p.chat(agentBody(30, 100)); res.StatusCode != 429 || len(u.requests()) != 1 {
		t.Errorf("%d", res.StatusCode)
	}
	if res := p.chat(agentBody(30, 100)); res.StatusCode != 200 || len(u.requests()) != 2 {
		t.Errorf("%d after %d hits", res.StatusCode, len(u.requests()))
	}
}

func TestAnAnswerThatTakesTheWholeWindowIsTheClientsAffair(t *testing.T) {
	for _, output := range []int{131072, 131071, 125000} {
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about %d tokens (7000 of text input, %d in the output). Please reduce the length of either one.","code":400}}`, output+7000, output)
		})
		p := inFrontOf(t, u, windowed(1_000_000))
		for n := 1; n <= 2; n++ {
			if res := p.chat(agentBody(30, 100)); res.StatusCode != 400 || !bytes.Contains(res.body, []byte(strconv.Itoa(output+7000))) {
				t.Errorf("%d %s", res.StatusCode, res.body)
			}
			p.replies(n)
		}
		if n := len(u.requests()); n != 2 || !bytes.Equal(u.requests()[1].Body, []byte(agentBody(30, 100))) {
			t.Errorf("%d: %d hits", output, n)
		}
		if r := p.replies(2)[1]; r.Retry.Why != "answer" || r.Retry.Kind != "output" || isLearnt(r.Rewrite.Facts) {
			t.Errorf("%+v %+v", r.Retry, r.Rewrite.Facts)
		}
	}
}

// Where the answer that was asked for is long but leaves room, the prompt is
// made to fit beside it, now and on the next turn.
func TestAPromptMakesRoomForALongAnswer(t *testing.T) {
	const window, asked = 4000, 3000
	u := newLimited(t, window-asked, func(w http.ResponseWriter, words, _ int) {
		w.WriteHeader(400)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}`, window, words+asked, words, asked)
	})
	p := inFrontOf(t, u.upstream, windowed(100_000))
	body := strings.Replace(agentBody(14, 100), `{"model"`, `{"max_tokens":3000,"model"`, 1)
	for hits := 2; hits <= 3; hits++ {
		if res := p.chat(body); res.StatusCode != 200 || len(u.requests()) != hits {
			t.Errorf("%d after %d hits: %s", res.StatusCode, len(u.requests()), res.body)
		}
	}
}

// An upstream that stops to count at its limit (vLLM) tells no size: what the
// proxy counted is taken by 0.7.
func TestALowerBoundIsNoSize(t *testing.T) {
	u := newLimited(t, 2500, func(w http.ResponseWriter, _, limit int) {
		w.WriteHeader(400)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"You passed %d input tokens and requested 0 output tokens. However, the model's context length is only %d tokens, resulting in a maximum input length of %d tokens.","type":"BadRequestError","param":"input_tokens","code":400}}`, limit+1, 20_000, limit)
	})
	p := inFrontOf(t, u.upstream, windowed(100_000))
	res := p.chat(agentBody(30, 100))
	if res.StatusCode != 200 || len(u.requests()) != 2 {
		t.Fatalf("%d after %d hits", res.StatusCode, len(u.requests()))
	}
	if f := p.replies(1)[0].Rewrite.Facts; f.Input.Value == 0 || f.Window.Value != 20_000 {
		t.Errorf("%+v", f)
	}
}

// Upstreams lie. Each costs two hits at the most, and never more than the
// upstream's own refusal.
func TestLiesAboutTheLimit(t *testing.T) {
	f := func(name string, say func(hit int) int, real, status int) {
		t.Run(name, func(t *testing.T) {
			hit := 0
			u := newLimited(t, real, func(w http.ResponseWriter, words, _ int) {
				hit++
				says(w, words, say(hit))
			})
			p := inFrontOf(t, u.upstream, windowed(100_000))
			for turn := 1; turn <= 6; turn++ {
				before := len(u.requests())
				res := p.chat(agentBody(30, 100))
				if hits := len(u.requests()) - before; hits > 2 {
					t.Errorf("turn %d: %d hits", turn, hits)
				}
				if res.StatusCode != 200 && res.StatusCode != 400 || turn == 6 && res.StatusCode != status {
					t.Errorf("turn %d: %d %s", turn, res.StatusCode, res.body)
				}
				facts := p.replies(turn)[turn-1].Rewrite.Facts
				if facts.Window.Value != 0 && facts.Window.Value < 128 {
					t.Errorf("%+v", facts)
				}
			}
		})
	}
	f("limit 0", func(int) int { return 0 }, 2000, 200)
	f("a negative limit", func(int) int { return -5 }, 2000, 200)
	f("a limit of 3", func(int) int { return 3 }, 2000, 200)
	f("a limit above its window", func(int) int { return 1_000_000 }, 2000, 200)
	f("a limit beyond all", func(int) int { return 1 << 50 }, 2000, 200)
	f("a limit that shrinks each time", func(hit int) int { return 3000 - 400*hit }, 0, 400)
	f("nothing is ever short enough", func(int) int { return 2000 }, 0, 400)
}

// A limit below what must stay: the upstream's own refusal, and with a policy
// that rejects an honest one of ours, with the numbers, at no hit.
func TestALimitBelowTheTools(t *testing.T) {
	tools := `"tools":[{"type":"function","function":{"name":"read","description":"` + strings.Repeat("word ", 2500) + `"}}],`
	body := strings.Replace(agentBody(10, 100), `{"model"`, `{`+tools+`"model"`, 1)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { says(w, 3600, 2000) })
	p := inFrontOf(t, u, windowed(100_000))
	for hits := 1; hits <= 2; hits++ {
		res := p.chat(body)
		if res.StatusCode != 400 || !bytes.Contains(res.body, []byte("3600")) || len(u.requests()) != hits {
			t.Errorf("%d %s after %d hits", res.StatusCode, res.body, len(u.requests()))
		}
		if sent := u.requests()[hits-1].Body; string(sent) != body {
			t.Errorf("hit %d: what cannot fit was shortened from %d to %d bytes", hits, len(body), len(sent))
		}
		if r := p.replies(hits)[hits-1].Retry; r.Why != "over" || r.Sent {
			t.Errorf("%+v", r)
		}
	}
	if r := p.replies(2)[1]; r.Outcome != Over || r.Rewrite.Facts.Window.Value != 2000 || r.Rewrite.Facts.Shape.Value != learn.ShapeFull {
		t.Errorf("%+v", r.Rewrite)
	}
	u = newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { says(w, 3600, 2000) })
	p = inFrontOf(t, u, windowed(100_000), func(o *Options) {
		policy := *o.Default.Policy
		policy.Reject = true
		o.Default.Policy = &policy
	})
	p.chat(body)
	res := p.chat(body)
	if res.code(t) != "context_length_exceeded" || len(u.requests()) != 1 || !strings.Contains(res.errorOf(t).Message, "in the functions") {
		t.Errorf("%d %s after %d hits", res.StatusCode, res.body, len(u.requests()))
	}
}

func TestErrorsAreReadToAMegabyte(t *testing.T) {
	line := strings.Repeat(" ", 4<<10)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"error":{"message":"prompt is too long: 3300 tokens > 2000 maximum"}`)
		for range 1200 {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "}")
	})
	p := inFrontOf(t, u, windowed(100_000))
	res := p.chat(agentBody(30, 100))
	if res.StatusCode != 400 || len(res.body) != 1200*len(line)+70 || len(u.requests()) != 1 {
		t.Errorf("%d, %d bytes after %d hits", res.StatusCode, len(res.body), len(u.requests()))
	}
	if r := p.replies(1)[0]; r.Retry != nil || r.Code != "" {
		t.Errorf("%+v", r)
	}
}

func TestAnEndlessErrorIsHandedOn(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		for r.Context().Err() == nil {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 64<<10))
		}
	})
	p := inFrontOf(t, u, windowed(100_000))
	conn := dial(t, p.addr)
	_, _ = io.WriteString(conn, post("", agentBody(30, 100)))
	if n, err := io.CopyN(io.Discard, conn, 8<<20); err != nil {
		t.Errorf("%d bytes: %v", n, err)
	}
	_ = conn.Close()
	if r := p.replies(1)[0]; r.Status != 499 {
		t.Errorf("%+v", r)
	}
}

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
				if last := u.requests()[1]; string(last.Body) != body || last.Header.Get("Content-Md5") != "of the original" {
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

func TestAnUncompactedBodyIsNotTriedAgain(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"error":{"message":"Jinja Exception: Conversation roles must alternate user/assistant"}}`)
	})
	p := inFrontOf(t, u)
	if res := p.chat(chatBody); res.StatusCode != 400 || len(u.requests()) != 1 {
		t.Errorf("%d after %d hits", res.StatusCode, len(u.requests()))
	}
}

// An error chunk of OpenRouter's begins as an answer does. However it arrives, it
// is seen for what it is.
func TestAnErrorChunkThatArrivesInPieces(t *testing.T) {
	for name, pad := range map[string]int{"small": 0, "larger than a read": 10_000} {
		for _, cut := range []int{10, 40, 120, 5000} {
			hit := 0
			u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
				if hit++; hit > 1 {
					_, _ = io.WriteString(w, plainAnswer)
					return
				}
				event := `data: {"id":"gen","object":"chat.completion.chunk","created":1,"model":"m","provider":"` + strings.Repeat("P", pad) +
					`","error":{"code":400,"message":"prompt is too long: 3300 tokens > 2000 maximum"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n"
				cut := min(cut, len(event)-1)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, event[:cut])
				_ = http.NewResponseController(w).Flush()
				time.Sleep(20 * time.Millisecond)
				_, _ = io.WriteString(w, event[cut:])
			})
			p := inFrontOf(t, u, windowed(6_000))
			if res := p.chat(agentBody(30, 100)); res.StatusCode != 200 || string(res.body) != plainAnswer || res.Header.Get("X-Laconic-Outcome") != "retried" {
				t.Errorf("%s, cut at %d: %d %.200s %v", name, cut, res.StatusCode, res.body, res.Header)
			}
		}
	}
}

// An upstream that is slow within its first event is waited for until that holds
// something generated, and no longer.
func TestAnAnswerThatIsSlowWithinItsFirstEvent(t *testing.T) {
	next := make(chan bool)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, part := range []string{`data: {"id":"x","object":"chat.completion.chunk",`, `"choices":[{"index":0,`, `"delta":{"content":"a"}}]}` + "\n\n"} {
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
			<-next
		}
	})
	p := inFrontOf(t, u)
	begun := make(chan *http.Response)
	go func() {
		res, err := client.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(longBody))
		if err != nil {
			t.Error(err)
		}
		begun <- res
	}()
	select {
	case <-begun:
		t.Error("the headers came before anything was generated")
		close(next)
	case <-time.After(50 * time.Millisecond):
		next <- true
		res := <-begun // before the event's end
		close(next)
		if b, err := io.ReadAll(res.Body); err != nil || !strings.HasSuffix(string(b), "\n\n") {
			t.Errorf("%q %v", b, err)
		}
		_ = res.Body.Close()
	}
}

// An upstream that keeps idempotency keys gives back what it answered to the
// first body, whatever comes under its key.
func TestTheSecondBodyHasNotTheFirstOnesKey(t *testing.T) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "X_Idempotency_Key"} {
		refused := map[string]bool{}
		u := newLimited(t, 2000, func(w http.ResponseWriter, words, limit int) { says(w, words, limit) })
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
		p := inFrontOf(t, u.upstream, windowed(100_000))
		if res := p.chat(agentBody(30, 100), name, "k1"); res.StatusCode != 200 {
			t.Errorf("%s: %d %s", name, res.StatusCode, res.body)
		}
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
	sent := make(chan struct{})
	hit := 0
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if hit++; hit == 1 {
			says(w, 3300, 2000)
			return
		}
		close(sent)
		<-r.Context().Done()
	})
	p := inFrontOf(t, u, windowed(100_000))
	conn := dial(t, p.addr)
	_, _ = io.WriteString(conn, post("", agentBody(30, 100)))
	<-sent
	_ = conn.Close()
	if r := p.replies(1)[0]; r.Status != StatusClientLeft || r.Code != apierror.CodeClientLeft {
		t.Errorf("%d %q", r.Status, r.Code)
	}
}

// An upstream that is silent after the second send, though the client waits: the
// first refusal stands.
func TestASecondSendThatIsNotAnswered(t *testing.T) {
	hit := 0
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if hit++; hit == 1 {
			says(w, 3300, 2000)
			return
		}
		<-r.Context().Done()
	})
	p := inFrontOf(t, u, windowed(100_000), func(o *Options) { o.Limits.ResponseHeader = 200 * time.Millisecond })
	if res := p.chat(agentBody(30, 100)); res.StatusCode != 400 || !strings.Contains(string(res.body), "3300") {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
}

// In shadow the client wants its own bytes sent, and sees what comes of it.
func TestShadowIsNotTriedAgain(t *testing.T) {
	u := newLimited(t, 2000, says)
	p := inFrontOf(t, u.upstream, windowed(100_000))
	for _, mode := range []string{"shadow", "off"} {
		if res := p.chat(agentBody(30, 100), "X-Laconic-Mode", mode); res.StatusCode != 400 {
			t.Errorf("%d", res.StatusCode)
		}
	}
	if n := len(u.requests()); n != 2 {
		t.Errorf("%d hits", n)
	}
}

// What one credential's traffic taught is not used for another's.
func TestFactsBelongToACredential(t *testing.T) {
	u := newLimited(t, 2000, says)
	p := inFrontOf(t, u.upstream, windowed(100_000))
	for i, key := range []string{"a", "a", "b"} {
		if res := p.chat(agentBody(30, 100), "Authorization", "Bearer "+key); res.StatusCode != 200 {
			t.Errorf("%d", res.StatusCode)
		}
		if n := len(u.requests()); n != []int{2, 3, 5}[i] {
			t.Errorf("key %s: %d hits", key, n)
		}
	}
	other := strings.Replace(agentBody(30, 100), "gpt-4o", "gpt-5", 1)
	if p.chat(other, "Authorization", "Bearer a"); len(u.requests()) != 7 {
		t.Errorf("another model: %d hits", len(u.requests()))
	}
}

// Every shape that is known, through the handler: how often the upstream was
// asked, what the client saw, what was remembered.
func TestEveryShapeOfRefusal(t *testing.T) {
	files, err := filepath.Glob("overflow/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(text).Files {
			verdict, rest, _ := strings.Cut(string(f.Data), "\n")
			head, body, _ := strings.Cut(rest, "\n")
			status, _ := strconv.Atoi(head)
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+f.Name, func(t *testing.T) {
				everyShape(t, verdict, status, strings.TrimSuffix(body, "\n"))
			})
		}
	}
}

func everyShape(t *testing.T, verdict string, status int, body string) {
	hit := 0
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if hit++; hit > 1 {
			_, _ = io.WriteString(w, plainAnswer)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if status == 200 {
			w.Header().Set("Content-Type", "text/event-stream")
			body = "data: " + body + "\n\n"
		}
		w.Header().Set("X-Upstream", "refused")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	// A request somewhat larger than the prompt that the upstream names, in
	// front of a window that would take it.
	r := overflow.Read(status, []byte(body)).Size()
	words := 20_000
	if r.Limit > 0 && r.Kind != overflow.Bytes && r.Kind != overflow.Count {
		words = max(r.Prompt, r.Limit*11/10)
	}
	request := agentBody(40, words/40)
	if r.Kind == overflow.Count {
		request = agentBody(3000, 20)
	}
	p := inFrontOf(t, u, func(o *Options) {
		o.Default.Counter, o.Default.Limits = compacttest.Words{}, compact.Limits{Window: 3 * wordsIn([]byte(request)), MaxMessages: 10_000}
	})
	res := p.chat(request)
	facts := p.factsOf("gpt-4o")
	wantHits, wantStatus := 2, 200
	kind, _, _ := strings.Cut(verdict, " ")
	switch {
	case kind == "none":
		wantHits, wantStatus = 1, status
		if isLearnt(facts) {
			t.Errorf("learnt %+v", facts)
		}
	case learn.Hopeless(r):
		wantHits, wantStatus = 1, status
		if isLearnt(facts) {
			t.Errorf("learnt %+v", facts)
		}
	case status == 429:
		wantHits, wantStatus = 1, 429
		fallthrough
	default:
		if r.Limit >= 128 && facts.Window.Value != r.Limit && facts.Input.Value != r.Limit && facts.Messages.Value != r.Limit && r.Kind != overflow.Bytes {
			t.Errorf("learnt %+v of %s", facts, verdict)
		}
		if !isLearnt(facts) {
			t.Error("nothing was learnt")
		}
	}
	if n := len(u.requests()); n != wantHits || res.StatusCode != wantStatus {
		t.Errorf("%d after %d hits, want %d after %d (%+v)", res.StatusCode, n, wantStatus, wantHits, p.replies(1)[0].Retry)
	}
	if wantHits == 1 && (string(res.body) != body || res.Header.Get("X-Upstream") != "refused") {
		t.Errorf("the client saw %q", res.body)
	}
	if wantHits == 2 {
		if string(res.body) != plainAnswer || res.Header.Get("X-Upstream") != "" || res.Header.Get("X-Laconic-Outcome") != "retried" {
			t.Errorf("the client saw %q %v", res.body, res.Header)
		}
		if res := p.chat(request); res.StatusCode != 200 || len(u.requests()) != 3 {
			t.Errorf("the next turn: %d after %d hits", res.StatusCode, len(u.requests())-2)
		}
	}
}
