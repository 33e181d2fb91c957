package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
)

// ollama is an upstream that loads a model when it is asked for, publishes the window
// of what is loaded, and cuts what is longer without a word. usage: its answers have
// usage; row is what it publishes.
func ollama(t *testing.T, window int, usage bool, row string) (u *upstream, cut *atomic.Int64) {
	var loaded atomic.Bool
	cut = new(atomic.Int64)
	u = newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/models":
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m:latest","object":"model","owned_by":"library"}]}`)
		case r.URL.Path == "/api/ps" && loaded.Load():
			_, _ = fmt.Fprintf(w, `{"models":[{"name":"m:latest","model":"m:latest"%s}]}`, row)
		case r.URL.Path == "/api/ps":
			_, _ = io.WriteString(w, `{"models":[]}`)
		case r.Method == http.MethodPost:
			loaded.Store(true)
			all := u.requests()
			words := wordsIn(all[len(all)-1].Body)
			if words > window {
				cut.Add(1)
			}
			if !usage {
				flushed(w, "text/event-stream", streamed)
				return
			}
			_, _ = fmt.Fprintf(w, `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":9}}`, min(words, window))
		default:
			http.NotFound(w, r)
		}
	})
	return u, cut
}

// A cold Ollama tells its window once the first request has loaded the model. The
// second one fits it, however soon it comes.
func TestTheWindowIsAskedForAgainOnceTheModelIsLoaded(t *testing.T) {
	for _, usage := range []bool{true, false} {
		for range 5 {
			u, cut := ollama(t, 4096, usage, `,"context_length":4096`)
			p := inFrontOf(t, u, calibrating, func(o *Options) { o.Default.Discover = true })
			for turn := range 10 {
				body := strings.Replace(agentBody(35+5*turn, 100), "gpt-4o", "m", 1) // 3,600 words and more
				p.chat(body)
				if got := p.replies(turn + 1)[turn].Rewrite.Told.Window; turn > 0 && got != 4096 {
					t.Fatalf("usage %v, turn %d: told a window of %d (asked %v)", usage, turn, got, paths(u))
				}
			}
			if n := cut.Load(); n != 0 {
				t.Errorf("usage %v: %d prompts were cut", usage, n)
			}
			if asked := paths(u); len(asked) > 12 {
				t.Errorf("asked %v", asked)
			}
		}
	}
}

func TestAWindowThatNobodyTellsIsTheDefault(t *testing.T) {
	var log logged
	u, cut := ollama(t, 4096, false, "")
	p := inFrontOf(t, u, calibrating, func(o *Options) {
		o.Default.Discover = true
		o.Listener = LogTo(log.at(zap.WarnLevel))
	})
	for turn := range 10 {
		p.chat(strings.Replace(agentBody(20+5*turn, 100), "gpt-4o", "m", 1))
		p.replies(turn + 1)
	}
	if n := cut.Load(); n != 0 {
		t.Errorf("%d prompts were cut", n)
	}
	if strings.Count(log.text(), `"window":4096`) != 1 || !strings.Contains(log.text(), "its default is taken") {
		t.Errorf("%s", log.text())
	}
}
