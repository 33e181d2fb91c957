package proxy

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy/learn"
	"laconic/proxy/overflow"
)

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

// An error chunk of OpenRouter's begins as an answer does. However it arrives, it
// is seen for what it is.
func TestAnErrorChunkThatArrivesInPieces(t *testing.T) {
	for name, pad := range map[string]int{"small": 0, "larger than a read": 10_000} {
		for _, cut := range []int{10, 40, 120, 5000} {
			hit := 0
			u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
				if hit++; hit > 1 {
					flushed(w, "text/event-stream", streamed)
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
			if res := p.chat(agentBody(30, 100)); res.StatusCode != 200 || string(res.body) != streamed || p.replies(1)[0].Outcome != Retried {
				t.Errorf("%s, cut at %d: %d %.200s", name, cut, res.StatusCode, res.body)
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
	res, err := client.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(longBody))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	begun := make(chan byte)
	go func() {
		var b [1]byte
		_, _ = io.ReadFull(res.Body, b[:])
		begun <- b[0]
	}()
	select {
	case <-begun:
		t.Error("an event came before anything was generated")
		close(next)
	case <-time.After(50 * time.Millisecond):
		next <- true
		if b := <-begun; b != 'd' { // before the event's end
			t.Errorf("it begins with %q", b)
		}
		close(next)
		if b, err := io.ReadAll(res.Body); err != nil || !strings.HasSuffix(string(b), "\n\n") {
			t.Errorf("%q %v", b, err)
		}
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
		if r.Limit >= 128 && !r.Unsure && facts.Window.Value != r.Limit && facts.Input.Value != r.Limit && facts.Messages.Value != r.Limit && r.Kind != overflow.Bytes {
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
