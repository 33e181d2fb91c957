package survival

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"laconic/demo/strict"
)

// session is one agent with one model: the upstream that speaks the script, and
// the judge that reads each request which it accepted.
type session struct {
	*strict.Upstream
	steps []step
	dir   string // of the client, for whole paths

	mu       sync.Mutex // guards what follows
	judge    *judge
	sent     []strict.Message // newest request of the client
	before   []strict.Message // last that was accepted
	round    int              // answers so far
	verdicts []verdict
	epochs   int
	refused  int    // by the upstream
	seen     int    // refusals that the client saw
	largest  int    // tokens of a prompt
	lost     []step // that no tool of the client can take
}

// newSession makes a session over these steps in a window, counted so. Where it
// thinks, all thinking is bound to what stood before it.
func newSession(w *workspace, window int, k tokenizer, thinks bool) *session {
	s := &session{steps: w.steps(), judge: newJudge(w.facts)}
	o := strict.Options{Limit: window, PromptAlone: true, Count: k.message, CountTools: k.tools, Reply: s.reply}
	if thinks {
		o.Rule, o.Thinks = misbound, func(r *strict.Request) *strict.Thought {
			b, _ := bind(r.Body, "What the user asked for comes first, and this is the next step to it.")
			return &b
		}
	}
	s.Upstream = strict.New(o)
	return s
}

// reply judges a request that was accepted, and answers with the next step.
func (s *session) reply(r *strict.Request) strict.Reply {
	if r.Tools == nil { // a client that asks for a title
		return strict.Reply{Text: "Ticket OPS-4127"}
	}
	if r.Items {
		r.Messages = likeChat(r.Messages)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.steps[:min(s.round, len(s.steps))]
	s.verdicts = append(s.verdicts, s.judge.look(s.sent, r.Messages, trail(taken, true), trail(taken, false)))
	if !slices.EqualFunc(s.before, r.Messages[:min(len(s.before), len(r.Messages))], strict.Message.Same) {
		s.epochs++
	}
	s.before = r.Messages
	s.largest = max(s.largest, r.PromptTokens())
	if s.round++; s.round > len(s.steps) {
		return strict.Reply{Text: sessionIsOver}
	}
	step := s.steps[s.round-1]
	call, ok := step.call(r.Tools, s.dir)
	if !ok {
		s.lost = append(s.lost, step)
		return strict.Reply{Text: sessionIsOver}
	}
	return strict.Reply{Text: step.say, Calls: []strict.Call{call}}
}

// ServeHTTP counts what the upstream refuses.
func (s *session) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := &statusWriter{ResponseWriter: w}
	s.Upstream.ServeHTTP(status, r)
	if r.Method == http.MethodPost && status.status >= 400 {
		s.mu.Lock()
		s.refused++
		s.mu.Unlock()
	}
}

// likeChat gives items the roles that a chat has.
func likeChat(items []strict.Message) []strict.Message {
	all := slices.Clone(items)
	for i := range all {
		switch m := &all[i]; {
		case strings.HasSuffix(m.Role, "_output"):
			m.Role = "tool"
		case strings.HasSuffix(m.Role, "_call"):
			m.Role = "assistant"
		}
	}
	return all
}

// sending notes what the client sends before it is on its way.
func (s *session) sending(messages []strict.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = messages
}

// lenient reads what a client sends, whatever its pairs.
var lenient = strict.New(strict.Options{Limit: -1})

// tap stands between a client and laconic: it notes what the client sends, and
// the refusals that it sees.
func (s *session) tap(t testing.TB, laconicURL string) *httptest.Server {
	target, err := url.Parse(laconicURL)
	if err != nil {
		t.Fatal(err)
	}
	behind := &httputil.ReverseProxy{
		Transport: client.Transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(res *http.Response) error {
			if res.Request.Method == http.MethodPost && res.StatusCode >= 400 {
				s.sawRefusal()
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		path := "/chat/completions"
		for _, other := range []string{"/messages", "/responses"} {
			if strings.HasSuffix(r.URL.Path, other) {
				path = other
			}
		}
		if req, _ := lenient.Read(path, body); req != nil && req.Tools != nil {
			s.sending(likeChat(req.Messages))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func (s *session) sawRefusal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen++
}

// statusWriter notes a status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
