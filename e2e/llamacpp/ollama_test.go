package llamacpp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"laconic/e2e/rig"

	"github.com/tidwall/gjson"
	"golang.org/x/tools/txtar"
)

// ollama stands for an Ollama with one model, which it loads for the first request. A
// prompt that is too long for the window is cut without a word.
type ollama struct {
	URL    string
	bodies map[string]string
	hidden bool // only /v1 is reached, as behind a gateway

	mu     sync.Mutex
	window int // num_ctx
	loaded bool
	came   []ollamaChat
}

// ollamaChat is what became of a request.
type ollamaChat struct {
	tokens int  // as they came
	cut    bool // some were not read
	task   bool // the first message of the user was read
}

const ollamaModel = "llama3.2"

func startOllama(t testing.TB, window int) *ollama {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/ollama.txtar")
	if err != nil {
		t.Fatal(err)
	}
	o := &ollama{window: window, bodies: map[string]string{}}
	for _, f := range archive.Files {
		o.bodies[f.Name] = strings.TrimSpace(string(f.Data))
	}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	o.URL = server.URL
	return o
}

// body returns what it answers.
func (o *ollama) body(name string, tokens int) string {
	text, ok := o.bodies[name]
	if !ok {
		panic("BUG: no body " + name)
	}
	return strings.NewReplacer("NAME", ollamaModel, "TOKENS", strconv.Itoa(tokens), "WINDOW", strconv.Itoa(o.window), "TEXT", "ok").Replace(text)
}

func (o *ollama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name := r.URL.Path
	switch {
	case r.Method == http.MethodPost && name == completions:
		o.answer(w, r)
		return
	case name == "/api/ps" && !o.loaded:
		name += ", nothing loaded"
	}
	if o.bodies[name] == "" || r.Method != http.MethodGet || o.hidden && strings.HasPrefix(name, "/api/") {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, o.body(name, 0))
}

// answer loads the model, drops the oldest messages that are no instructions until the
// prompt fits, and answers. Of a last message that is too long alone, half a window is
// read.
func (o *ollama) answer(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model    string
		Stream   bool
		Messages []json.RawMessage
		Tools    json.RawMessage
		Options  struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if strings.TrimSuffix(q.Model, ":latest") != ollamaModel {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, o.body("no such model", 0))
		return
	}
	o.loaded = true
	cost := make([]int, len(q.Messages))
	c := ollamaChat{tokens: len(q.Tools) / 4, task: true}
	task := -1
	for i, m := range q.Messages {
		cost[i] = 4 + len(m)/4
		c.tokens += cost[i]
		if task < 0 && gjson.GetBytes(m, "role").String() == "user" {
			task = i
		}
	}
	read := c.tokens
	for i := 0; i < len(q.Messages)-1 && read > o.window; i++ {
		if gjson.GetBytes(q.Messages[i], "role").String() == "system" {
			continue
		}
		read -= cost[i]
		c.cut, c.task = true, c.task && i != task
	}
	if read > o.window {
		read, c.cut = o.window/2+2, true
	}
	o.came = append(o.came, c)
	if !q.Stream {
		_, _ = io.WriteString(w, o.body("answer", read))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := []string{"event", "last event"}
	if q.Options.Usage {
		events = append(events, "event of usage")
	}
	for _, e := range events {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", o.body(e, read))
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// restart ends the server, and starts it with another window.
func (o *ollama) restart(window int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.loaded, o.window = false, window
}

// read returns how many of the requests that came since it was asked last were cut, and
// how many were read without the task.
func (o *ollama) read() (came, cut, lost int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.came {
		if c.cut {
			cut++
		}
		if !c.task {
			lost++
		}
	}
	came, o.came = len(o.came), nil
	return came, cut, lost
}

// TestOllama: an agent whose history is far longer than the window, in front of an
// Ollama that cuts. Each of its requests but the first few is read whole.
func TestOllama(t *testing.T) {
	t.Parallel()
	requests := growing(chatsOf(t, "demo")[0], ollamaModel, 40)[12:]
	play := func(t *testing.T, o *ollama, p *rig.Laconic, stream string) {
		for i, body := range requests {
			status, h, answer := rig.Post(t, p.URL+completions, with(body, stream))
			if status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
			rig.Eventually(t, "the end of the answer", func() bool { return strings.Contains(p.Output(), h.Get("X-Laconic-Request-Id")) })
			if i == 0 && !o.hidden && o.window == 8192 { // a smaller one is seen once it cuts
				rig.Eventually(t, "the window is known", func() bool { return budgetOf(t, p.URL, ollamaModel) < o.window })
			}
		}
	}
	f := func(name string, most int, run func(t *testing.T, o *ollama, p *rig.Laconic)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startOllama(t, 8192)
			o.hidden = strings.Contains(name, "gateway")
			p := rig.Start(t, o.URL+"/v1", "", "--log-level", "debug")
			run(t, o, p)
			came, cut, lost := o.read()
			t.Logf("%d requests, %d cut, %d without the task", came, cut, lost)
			if cut > most || came < len(requests) {
				t.Errorf("%d of %d requests were cut, %d of them without the task: more than the first %d", cut, came, lost, most)
			}
		})
	}
	// The window is published once the model is loaded, which the first request does.
	f("nothing loaded", 1, func(t *testing.T, o *ollama, p *rig.Laconic) { play(t, o, p, `"stream":false`) })
	f("nothing loaded, streams", 1, func(t *testing.T, o *ollama, p *rig.Laconic) { play(t, o, p, `"stream":true`) })
	f("loaded", 0, func(t *testing.T, o *ollama, p *rig.Laconic) {
		o.loaded = true
		rig.Eventually(t, "the window is known", func() bool { return budgetOf(t, p.URL, ollamaModel) < o.window })
		o.read()
		play(t, o, p, `"stream":false`)
	})
	// Behind a gateway only the usage shows it.
	f("behind a gateway", 3, func(t *testing.T, o *ollama, p *rig.Laconic) { play(t, o, p, `"stream":false`) })
	f("behind a gateway, streams", 3, func(t *testing.T, o *ollama, p *rig.Laconic) {
		play(t, o, p, `"stream":true,"stream_options":{"include_usage":true}`)
	})
	f("restarted with a smaller window", 4, func(t *testing.T, o *ollama, p *rig.Laconic) {
		play(t, o, p, `"stream":false`)
		o.restart(4096)
		play(t, o, p, `"stream":false`)
	})
}
