package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"

	"laconic/e2e/rig"
)

// ollama is an upstream that loads a model when it is asked for, publishes the window
// of what is loaded, and cuts what is longer without a word. usage: its answers have
// usage; row is what it publishes.
func ollama(t *testing.T, window int, usage bool, row string) (u *upstream, cut *atomic.Int64) {
	var loaded atomic.Bool
	cut = new(atomic.Int64)
	u = newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/models":
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m:latest","object":"model","owned_by":"library"}]}`)
		case r.URL.Path == "/api/ps" && loaded.Load():
			_, _ = fmt.Fprintf(w, `{"models":[{"name":"m:latest","model":"m:latest"%s}]}`, row)
		case r.URL.Path == "/api/ps":
			_, _ = io.WriteString(w, `{"models":[]}`)
		case r.Method == http.MethodPost:
			loaded.Store(true)
			body, _ := io.ReadAll(r.Body)
			words := wordsIn(body)
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
				if got := p.replies(turn + 1)[turn].Rewrite.Published.Window; turn > 0 && got != 4096 {
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

// TestTheWindowIsAskedForBeforeALongAnswerEnds: the second request does not wait for
// the end of the first.
func TestTheWindowIsAskedForBeforeALongAnswerEnds(t *testing.T) {
	u, _ := ollama(t, 4096, false, `,"context_length":4096`)
	next, asked, end := u.Config.Handler, make(chan bool, 10), make(chan bool)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			<-asked // it is loaded after that
		}
		next.ServeHTTP(w, r)
		switch {
		case r.Method == http.MethodPost:
			<-end
		case r.URL.Path == "/api/ps":
			asked <- true
		}
	})
	p := inFrontOf(t, u, calibrating, func(o *Options) { o.Default.Discover = true })
	defer close(end)
	body := strings.Replace(agentBody(35, 100), "gpt-4o", "m", 1)
	r, err := http.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	rig.Eventually(t, "the window is known", func() bool {
		published, _ := p.published(p.settings.Load(), http.Header{}, &p.settings.Load().Default, "m", false)
		return published.Window == 4096
	})
}

// TestSeveralColdRequestsTeachNoCount: of each, as many messages were read as have room.
func TestSeveralColdRequestsTeachNoCount(t *testing.T) {
	u, _ := ollama(t, 4096, true, "")
	next := u.Config.Handler
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, `{"id":"x","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":9}}`, wordsIn(body)*60/100)
	})
	p := inFrontOf(t, u, calibrating, func(o *Options) { o.Default.Discover = true })
	rig.Eventually(t, "the upstream is known", func() bool {
		s := p.settings.Load()
		_, _ = p.published(s, http.Header{}, &s.Default, "m", false)
		return p.asker.Loads(s.asking(http.Header{}, &s.Default))
	})
	for i := range 4 {
		p.chat(strings.Replace(agentBody(62+2*i, 100), "gpt-4o", "m", 1))
	}
	p.replies(4)
	if got := p.factsOf("m").Count.Value; got.Percent != 0 {
		t.Errorf("they teach %+v", got)
	}
}

// TestAConversationThatIsCutShowsItsWindow: behind a gateway that has no pages, usage
// that stands still while the list grows is all that shows it.
func TestAConversationThatIsCutShowsItsWindow(t *testing.T) {
	for _, window := range []int{4013, 8117} {
		var log logged
		u, cut := ollama(t, window, true, "")
		p := inFrontOf(t, u, calibrating, func(o *Options) { o.Listener = LogTo(log.at(zap.InfoLevel)) })
		for turn := range 20 {
			p.chat(strings.Replace(agentBody(window/105-10+3*turn, 100), "gpt-4o", "m", 1))
			p.replies(turn + 1)
		}
		if n := cut.Load(); n == 0 || n > 3 {
			t.Errorf("a window of %d: %d prompts were cut", window, n)
		}
		if n := strings.Count(log.text(), `"prompt_cut_by_upstream":true`); n != 1 {
			t.Errorf("a window of %d: %d answers of cut prompts in the log", window, n)
		}
	}
}

// TestARestartWithASmallerWindowIsSeen: the page that was read before it is not believed
// for long.
func TestARestartWithASmallerWindowIsSeen(t *testing.T) {
	u, cut := ollama(t, 8192, true, `,"context_length":8192`)
	smaller, cutNow := ollama(t, 4096, true, `,"context_length":4096`)
	var restarted atomic.Bool
	before := u.Config.Handler
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if restarted.Load() {
			smaller.Config.Handler.ServeHTTP(w, r)
			return
		}
		before.ServeHTTP(w, r)
	})
	p := inFrontOf(t, u, calibrating, func(o *Options) { o.Default.Discover = true })
	for turn := range 20 {
		restarted.Store(turn >= 10)
		p.chat(strings.Replace(agentBody(70+5*turn, 100), "gpt-4o", "m", 1))
		p.replies(turn + 1)
	}
	if cut.Load() != 0 || cutNow.Load() > 1 {
		t.Errorf("%d prompts were cut before the restart, %d after it", cut.Load(), cutNow.Load())
	}
}
