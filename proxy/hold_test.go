package proxy

import (
	"bufio"
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
		if read != (r.Usage != nil && *r.Usage == wire.Usage{Prompt: 11, Completion: 2, Cached: 7, CacheStated: true}) || r.Unread == read {
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
					piece(w, string([]byte{b}))
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
			u.saw(t, 1)
		}
	}
}

// The headers of a stream go to the client as they come, whatever its first event
// will be. On a virtual clock, the upstream lets that wait for a second.
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
		f := func(name, headers, body string) {
			t.Helper()
			conn := v.dial()
			defer func() { _ = conn.Close() }()
			began := time.Now()
			_, _ = io.WriteString(conn, post(headers, body))
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited != 0 {
				t.Errorf("%s: the headers came after %v", name, waited)
			}
			if b, err := io.ReadAll(res.Body); err != nil || !strings.HasPrefix(string(b), "data: ") || time.Since(began) != time.Second {
				t.Errorf("%s: %q %v", name, b, err)
			}
			<-v.all
		}
		f("a short one", "", chatBody)
		f("a long one", "", longBody)
		f("in shadow", "X-Laconic-Mode: shadow\r\n", longBody)
		f("a budget beyond the window", "X-Laconic-Budget: 10000000\r\n", agentBody(40, 1000))
		failing = true
		f("an error", "", longBody)
	})
}

// lateRefusal is an event by which llama.cpp refuses what it has begun to answer.
const lateRefusal = `data: {"error":{"code":400,"message":"request (3300 tokens) exceeds the available context size (2000 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":3300,"n_ctx":2000}}` + "\n\n"

const streamed = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// piece writes a piece of an answer, and waits with no byte of it.
func piece(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// flushed writes pieces of an answer whose length is not known.
func flushed(w http.ResponseWriter, kind string, pieces ...string) {
	w.Header().Set("Content-Type", kind)
	_ = http.NewResponseController(w).Flush()
	for _, text := range pieces {
		piece(w, text)
	}
}

// A refusal that is the first event behind headers that the client has is cured all
// the same: the second stream follows in the same answer. Where there is none, the
// refusal is the client's, unchanged.
func TestASecondStreamFollowsInTheSameAnswer(t *testing.T) {
	const sse, plain = "text/event-stream", "application/json"
	stream := func(pieces ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { flushed(w, sse, pieces...) }
	}
	f := func(name string, first, second http.HandlerFunc, want string, hits int) {
		t.Run(name, func(t *testing.T) {
			hit := 0
			u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				if hit++; hit == 1 {
					w.Header().Set("X-Upstream", "first")
					first(w, r)
					return
				}
				w.Header().Set("X-Upstream", "second")
				second(w, r)
			})
			p := inFrontOf(t, u, windowed(100_000), calibrating)
			res := p.chat(agentBody(30, 100))
			if string(res.body) != want || res.err != nil || res.StatusCode != 200 || len(u.requests()) != hits {
				t.Fatalf("%d %q %v after %d hits", res.StatusCode, res.body, res.err, len(u.requests()))
			}
			if res.Header.Get("X-Upstream") != "first" || res.Header.Get("X-Laconic-Outcome") != "untouched" {
				t.Errorf("%v", res.Header)
			}
			cured := strings.HasSuffix(want, streamed) && hits == 2
			r := p.replies(1)[0]
			if hits == 2 && (r.Retry == nil || !r.Retry.Sent || r.Retry.Answered != cured) || (r.Outcome == Retried) != cured || r.Code != "" {
				t.Errorf("%s %+v", r.Outcome, r.Retry)
			}
			if cured && (r.Rewrite.Report.After > 2000 || !r.Done || !r.Streamed || r.Bytes != int64(len(want))) {
				t.Errorf("%+v", r)
			}
			if p.factsOf("gpt-4o").Window.Value != 2000 && hits == 2 {
				t.Error("the limit was not learnt")
			}
		})
	}
	f("a stream", stream(lateRefusal), stream(streamed), streamed, 2)
	f("behind comments", stream(": PROCESSING\n\n", ": PROC", "ESSING\n\n\r\n", lateRefusal+"data: [DONE]\n\n"), stream(streamed), ": PROCESSING\n\n: PROCESSING\n\n\r\n"+streamed, 2)
	f("in pieces", stream(lateRefusal[:30], lateRefusal[30:150], lateRefusal[150:]), stream(streamed[:9], streamed[9:]), streamed, 2)
	f("with a parameter", stream(lateRefusal), func(w http.ResponseWriter, _ *http.Request) { flushed(w, sse+"; charset=utf-8", streamed) }, streamed, 2)
	f("refused again", stream(lateRefusal, "data: [DONE]\n\n"), stream(lateRefusal), lateRefusal+"data: [DONE]\n\n", 2)
	f("refused with a status", stream(lateRefusal), func(w http.ResponseWriter, _ *http.Request) { says(w, 900, 800) }, lateRefusal, 2)
	f("no stream", stream(lateRefusal), func(w http.ResponseWriter, _ *http.Request) { flushed(w, plain, plainAnswer) }, lateRefusal, 2)
	f("another status", stream(lateRefusal), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, lateRefusal, 2)
	f("compressed", stream(lateRefusal), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		flushed(w, sse, streamed)
	}, lateRefusal, 2)
	f("broken", stream(lateRefusal), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, lateRefusal, 2)
	f("behind what was generated", stream(strings.Replace(streamed, "data: [DONE]\n\n", "", 1), lateRefusal), nil,
		strings.Replace(streamed, "data: [DONE]\n\n", "", 1)+lateRefusal, 1)
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
