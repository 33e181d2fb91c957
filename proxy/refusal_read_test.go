package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
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
