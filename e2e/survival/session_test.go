package survival

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
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
	vllm  bool   // refuses in vLLM's words

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

// newSession makes a session over these steps in a window, counted so.
func newSession(w *workspace, window int, k tokenizer) *session {
	s := &session{steps: w.steps(), judge: newJudge(w.facts)}
	s.Upstream = strict.New(strict.Options{Limit: window, PromptAlone: true, Count: k.message, CountTools: k.tools, Reply: s.reply, MaxID: -1})
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
	if s.vllm {
		status.ResponseWriter = &likeVLLM{ResponseWriter: w}
	}
	s.Upstream.ServeHTTP(status, r)
	if r.Method == http.MethodPost && status.status >= 400 {
		s.mu.Lock()
		s.refused++
		s.mu.Unlock()
	}
}

// likeVLLM writes refusals as vLLM does, since 0.8.
type likeVLLM struct {
	http.ResponseWriter
	refuses bool
}

func (w *likeVLLM) WriteHeader(status int) {
	if w.refuses = status == http.StatusBadRequest; w.refuses {
		w.Header().Del("Content-Length")
	}
	w.ResponseWriter.WriteHeader(status)
}

// resulted has the window and the prompt of a refusal in OpenAI's words.
var resulted = regexp.MustCompile(`context length is (\d+) tokens. However, your messages resulted in (\d+) tokens`)

func (w *likeVLLM) Write(b []byte) (int, error) {
	if n := resulted.FindSubmatch(b); w.refuses && n != nil {
		_, err := fmt.Fprintf(w.ResponseWriter, `{"object":"error","message":"This model's maximum context length is %s tokens. However, your request has %s input tokens. `+
			`Please reduce the length of the input messages.","type":"BadRequestError","param":null,"code":400}`, n[1], n[2])
		return len(b), err
	}
	return w.ResponseWriter.Write(b)
}

func (w *likeVLLM) Unwrap() http.ResponseWriter { return w.ResponseWriter }

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
var lenient = strict.New(strict.Options{Limit: -1, MaxID: -1})

// tap stands between a client and laconic: it notes what the client sends, and
// the refusals that it sees.
func (s *session) tap(t testing.TB, laconicURL string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		read := lenient.Read
		switch {
		case strings.HasSuffix(r.URL.Path, "/messages"):
			read = lenient.ReadMessages
		case strings.HasSuffix(r.URL.Path, "/responses"):
			read = lenient.ReadItems
		}
		if req, _ := read(body); req != nil && req.Tools != nil {
			s.sending(likeChat(req.Messages))
		}
		out, err := http.NewRequestWithContext(r.Context(), r.Method, laconicURL+r.URL.RequestURI(), strings.NewReader(string(body)))
		if err != nil {
			return
		}
		out.Header = r.Header.Clone()
		res, err := client.Do(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer res.Body.Close()
		if r.Method == http.MethodPost && res.StatusCode >= 400 {
			s.sawRefusal()
		}
		for name, values := range res.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(res.StatusCode)
		hand(w, res.Body)
	}))
	t.Cleanup(server.Close)
	return server
}

// hand copies an answer as it comes.
func hand(w http.ResponseWriter, body io.Reader) {
	c := http.NewResponseController(w)
	for b := make([]byte, 16<<10); ; {
		n, err := body.Read(b)
		if n > 0 {
			if _, err := w.Write(b[:n]); err != nil {
				return
			}
			_ = c.Flush()
		}
		if err != nil {
			return
		}
	}
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
