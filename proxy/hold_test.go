package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"laconic/proxy/wire"
)

// negotiating is an upstream that compresses its answer where the request takes
// that: RFC 9110 §12.5.3 lets it do so where the request says nothing, too.
func negotiating(t *testing.T) *upstream {
	packed := gzipped(t, []byte(plainAnswer))
	return newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Vary", "Accept-Encoding")
		if r.Header.Get("Accept-Encoding") == "identity" {
			_, _ = io.WriteString(w, plainAnswer)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed)
	})
}

// An answer that is read is asked for without an encoding, whatever the client
// takes; of every other one the client's own header decides.
func TestAnswersThatAreReadComeWithoutEncoding(t *testing.T) {
	f := func(path, accept, more string, want []string, read bool) {
		t.Helper()
		u := negotiating(t)
		p := inFrontOf(t, u)
		if accept != "" {
			more += "Accept-Encoding: " + accept + "\r\n"
		}
		request := strings.Replace(post(more, chatBody), "/v1/chat/completions", path, 1)
		res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(raw(t, p.addr, request))), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		if packed := res.Header.Get("Content-Encoding") != ""; packed == read || read && string(body) != plainAnswer {
			t.Errorf("%s %q: %v %q", path, accept, res.Header, body)
		}
		if got := u.only(t).Header["Accept-Encoding"]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s %q: the upstream saw Accept-Encoding %q, want %q", path, accept, got, want)
		}
		r := p.replies(1)[0]
		if read != (r.Usage != nil && *r.Usage == wire.Usage{Prompt: 11, Completion: 2, Cached: 7}) || r.Unread == read {
			t.Errorf("%s %q: usage %+v, unread %v", path, accept, r.Usage, r.Unread)
		}
	}
	const chat = "/v1/chat/completions"
	identity := []string{"identity"}
	f(chat, "", "", identity, true)
	f(chat, "gzip", "", identity, true)
	f(chat, "gzip, br;q=0.5, zstd", "", identity, true)
	f(chat, "gzip\r\nAccept-Encoding: br", "", identity, true)
	f(chat, "gzip", "X-Laconic-Mode: shadow\r\n", identity, true)
	f(chat, "gzip, br", "X-Laconic-Mode: off\r\n", []string{"gzip, br"}, false)
	f("/v1/responses", "gzip, br", "", []string{"gzip, br"}, false)
	f("/v1/embeddings", "", "", nil, false)
}

// An upstream that compresses all the same is handed on as it comes: its bytes,
// and each at once. Nobody looks for its usage, and nothing is said of its end.
func TestACompressedAnswerIsHandedOnUnread(t *testing.T) {
	// Were it read, it would be waited for, and sent again.
	packed := []byte(`data: {"error":{"message":"maximum context length is 2 tokens"},"usage":{"prompt_tokens":5}}` + "\n\n")
	for _, encoding := range []string{"gzip", "x-gzip", "deflate", "br", "zstd", "exi", "gzip, gzip"} {
		for _, status := range []int{200, 400} {
			next := make(chan bool)
			u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Content-Encoding", encoding)
				w.WriteHeader(status)
				for _, b := range packed {
					_, _ = w.Write([]byte{b})
					_ = http.NewResponseController(w).Flush()
					select {
					case <-next:
					case <-r.Context().Done():
						return
					}
				}
			})
			var log logged
			p := inFrontOf(t, u, func(o *Options) { o.Listener = LogTo(log.at(zap.DebugLevel)) })
			ctx, cancel := context.WithCancel(t.Context())
			req, _ := http.NewRequestWithContext(ctx, "POST", p.url+"/v1/chat/completions", strings.NewReader(chatBody))
			bell := time.AfterFunc(5*time.Second-time.Second, cancel)
			res, err := client.Do(req)
			if bell.Stop(); err != nil { // arrives only if the headers do, while the upstream waits
				t.Fatal(encoding, status, err)
			}
			for i := range packed {
				b := make([]byte, 1)
				if _, err := io.ReadFull(res.Body, b); err != nil || b[0] != packed[i] {
					t.Fatalf("%s: byte %d: %v %v", encoding, i, b, err)
				}
				next <- true // only when the client has it
			}
			if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 || res.StatusCode != status {
				t.Errorf("%s: %d %q %v", encoding, res.StatusCode, rest, err)
			}
			_ = res.Body.Close()
			cancel()
			r := p.replies(1)[0]
			if !r.Unread || r.Usage != nil || r.Done || r.Code != "" || len(p.faults()) > 0 {
				t.Errorf("%s: %+v %v", encoding, r, p.faults())
			}
			if text := log.text(); strings.Contains(text, `"done"`) || strings.Contains(text, "prompt_tokens") {
				t.Error(text)
			}
			if n := len(u.requests()); n != 1 {
				t.Errorf("%s: %d hits", encoding, n)
			}
		}
	}
}

// Of an answer that is no event and no JSON no more than mostUndecided is held.
func TestAnEventWithoutEndIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pieces [][]byte
		for range 100 {
			pieces = append(pieces, bytes.Repeat([]byte("x"), 1<<10))
		}
		pieces[0] = []byte("event: ")
		v := newVirtual(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, piece := range pieces {
				_, _ = w.Write(piece)
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
		})
		conn := v.dial()
		defer func() { _ = conn.Close() }()
		began := time.Now()
		_, _ = io.WriteString(conn, post("", chatBody))
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited > 65*time.Second {
			t.Errorf("the answer began after %v", waited)
		}
		if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, bytes.Join(pieces, nil)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

// The headers of an answer go to the client as they come where no refusal is
// expected behind them: below a quarter of the budget, or where a prompt of that
// length was answered for this upstream, model and credential. On a virtual
// clock, the upstream lets its first event wait for a second.
func TestHeadersGoToTheClientAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := false
		v := newVirtual(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second)
			if failing {
				_, _ = io.WriteString(w, "data: {\"error\":{\"message\":\"out of memory\"}}\n\n")
				return
			}
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		})
		f := func(name, headers, body string, want time.Duration) {
			t.Helper()
			conn := v.dial()
			defer func() { _ = conn.Close() }()
			began := time.Now()
			_, _ = io.WriteString(conn, post(headers, body))
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited != want {
				t.Errorf("%s: the headers came after %v, want %v", name, waited, want)
			}
			if b, err := io.ReadAll(res.Body); err != nil || !strings.HasPrefix(string(b), "data: ") || time.Since(began) != time.Second {
				t.Errorf("%s: %q %v", name, b, err)
			}
			<-v.all
		}
		longer := agentBody(6, 100)
		f("a short one", "", chatBody, 0)
		f("a long one", "", longBody, time.Second)
		f("one that was answered", "", longBody, 0)
		f("a longer one", "", longer, time.Second)
		f("one that was answered, in shadow", "X-Laconic-Mode: shadow\r\n", longer, 0)
		f("another credential", "Authorization: Bearer b\r\n", longBody, time.Second)
		f("another model", "", strings.Replace(longBody, "gpt-4o", "gpt-5", 1), time.Second)
		f("a budget beyond the window", "X-Laconic-Budget: 10000000\r\n", agentBody(40, 1000), time.Second)
		failing = true
		f("an error", "", strings.Replace(longBody, "gpt-4o", "gpt-6", 1), time.Second)
		f("an error was no answer", "", strings.Replace(longBody, "gpt-4o", "gpt-6", 1), time.Second)
	})
}

// refusingLate is an upstream that refuses what is longer than limit under 200.
func refusingLate(t *testing.T, limit int, refusal string) *limited {
	return newLimited(t, limit, func(w http.ResponseWriter, words, limit int) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+strings.NewReplacer("WORDS", fmt.Sprint(words), "LIMIT", fmt.Sprint(limit)).Replace(refusal)+"\n\n")
	})
}

// A refusal that comes as the first event of an answer nobody waited for is the
// client's, and teaches: the next request fits, or its answer is waited for.
func TestARefusalThatNobodyWaitedForTeaches(t *testing.T) {
	f := func(name, refusal, outcome string, hits int) {
		t.Run(name, func(t *testing.T) {
			u := refusingLate(t, 2000, refusal)
			p := inFrontOf(t, u.upstream, windowed(100_000))
			body := agentBody(30, 100) // some 3,100 words
			if res := p.chat(body); !bytes.Contains(res.body, []byte("error")) || len(u.requests()) != 1 {
				t.Fatalf("%s after %d hits", res.body, len(u.requests()))
			}
			if r := p.replies(1)[0]; r.Retry == nil || r.Retry.Why != "late" || r.Retry.Sent || r.Ended != "" {
				t.Errorf("%+v", r.Retry)
			}
			if res := p.chat(body); string(res.body) != plainAnswer || res.Header.Get("X-Laconic-Outcome") != outcome {
				t.Errorf("%s %v", res.body, res.Header)
			}
			if n := len(u.requests()); n != hits {
				t.Errorf("%d hits, want %d", n, hits)
			}
		})
	}
	f("with a number", `{"error":{"message":"request (WORDS tokens) exceeds the available context size (LIMIT tokens), try increasing it"}}`, "compacted", 2)
	f("without", `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}}`, "retried", 3)
}

// An error behind generated tokens is no refusal: whoever pays for them gets it.
func TestAnErrorBehindGeneratedTokensIsNotSentAgain(t *testing.T) {
	const message = `"message":"request (3300 tokens) exceeds the available context size (2000 tokens), try increasing it"`
	f := func(status int, body string, hits int) {
		t.Helper()
		n := 0
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			if n++; n > 1 {
				_, _ = io.WriteString(w, plainAnswer)
				return
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
		p := inFrontOf(t, u, windowed(6_000)) // so that answers are waited for
		res := p.chat(agentBody(30, 100))
		if len(u.requests()) != hits || hits == 1 && string(res.body) != body {
			t.Errorf("%d hits, want %d: %d %s", len(u.requests()), hits, res.StatusCode, res.body)
		}
	}
	f(200, "data: {\"error\":{"+message+"},\"usage\":{\"completion_tokens\":50}}\n\n", 1)
	f(200, "data: {\"error\":{"+message+",\"usage\": {\"prompt_tokens\":3300,\"completion_tokens\" : 50}}}\n\n", 1)
	f(200, "data: {\"error\":{"+message+"},\"usage\":{\"completion_tokens\":0}}\n\n", 2)
	f(200, "data: {\"error\":{"+message+",\"x\":\"\\\"completion_tokens\\\":50\"},\"usage\":null}\n\n", 2)
	f(400, "{\"error\":{"+message+"},\"usage\":{\"completion_tokens\":50}}", 1)
	f(400, "{\"error\":{"+message+"}}", 2)
}
