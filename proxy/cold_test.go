package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"

	"laconic/compact"
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

// An older Ollama does not tell its window. Where usage does not show it either, it
// has the one of its defaults, and the log says so.
// TestAnUpstreamThatAnswersAnyPathHasNoDefault: such a page names no program.
func TestAnUpstreamThatAnswersAnyPathHasNoDefault(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	})
	p := inFrontOf(t, u, calibrating, func(o *Options) { o.Default.Discover = true })
	for turn := range 10 {
		p.chat(strings.Replace(agentBody(20+5*turn, 100), "gpt-4o", "m", 1))
		if learnt := p.replies(turn + 1)[turn].Rewrite.Facts; isLearnt(learnt) {
			t.Fatalf("turn %d: learnt %+v", turn, learnt)
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

// What an upstream states of its window is surer than what the name of a model makes
// us guess, also where it is more.
func TestAGuessedWindowGrowsToTheStatedOne(t *testing.T) {
	f := func(name string, configured bool, want string) {
		t.Helper()
		u := newLimited(t, 32_000, func(w http.ResponseWriter, words, limit int) {
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.","code":"context_length_exceeded"}}`, limit, words)
		})
		p := inFrontOf(t, u.upstream, func(o *Options) {
			o.Default.Limits, o.Default.Configured = compact.Limits{Window: 8192}, configured
		})
		p.chat(strings.Replace(agentBody(5, 100), `"be brief"`, `"`+strings.Repeat("word ", 33_000)+`"`, 1))
		if got := p.chat(agentBody(100, 100)).Header.Get("X-Laconic-Budget"); got != want {
			t.Errorf("%s: a budget of %s, want %s", name, got, want)
		}
	}
	f("guessed", false, "24000")
	f("configured", true, "6144")
}
