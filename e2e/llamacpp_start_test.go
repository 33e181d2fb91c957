package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"laconic/e2e/llamacpp"
	"laconic/store/storetest"
)

// allOfLlamaCpp reports whether `make llamacpp` or `make long` asked for every
// template, vocabulary and conversation, which takes minutes.
func allOfLlamaCpp() bool { return os.Getenv("LACONIC_LLAMACPP") == "full" }

// model writes the model that is asked: with a vocabulary of llama.cpp, or "" for
// OpenAI's cl100k_base.
func model(t testing.TB, vocabulary string) (file string) {
	t.Helper()
	v, err := llamacpp.Cl100k("../tokenize/bpe/data/cl100k_base.merges")
	if vocabulary != "" {
		v, err = llamacpp.FromGGUF(filepath.Join(llamacpp.Models(t), "ggml-vocab-"+vocabulary+".gguf"))
	}
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "model.gguf")
	if err := llamacpp.Write(file, v, 131072); err != nil {
		t.Fatal(err)
	}
	return file
}

// template returns the words of a command line by which a server takes a chat template
// of llama.cpp.
func template(t testing.TB, name string) []string {
	t.Helper()
	return []string{"--chat-template-file", filepath.Join(llamacpp.Models(t), "templates", name+".jinja")}
}

// chatML is a template that writes tools, calls and results.
const chatML = "Qwen-Qwen2.5-7B-Instruct"

// llama is a llama-server and what came to it.
type llama struct {
	URL    string // as Laconic reaches it, without /v1
	direct string
	// secret makes it answer 404 to all that it would tell of itself.
	secret bool

	mu    sync.Mutex
	chats []*llamaChat
}

// llamaChat is a request for an answer.
type llamaChat struct {
	body   []byte
	status int
	answer *bytes.Buffer
}

// llamaKey is where the context of a request has its llamaChat.
type llamaKey struct{}

// startLlama starts a llama-server.
func startLlama(t testing.TB, args ...string) *llama {
	t.Helper()
	l := &llama{direct: llamacpp.Start(t, storetest.FreeAddress(t), args...).URL}
	to, _ := url.Parse(l.direct)
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1,
		// The server closes what is idle for five seconds, and a request may meet that.
		Transport: &http.Transport{DisableKeepAlives: true},
		ModifyResponse: func(res *http.Response) error {
			if c, ok := res.Request.Context().Value(llamaKey{}).(*llamaChat); ok {
				c.status = res.StatusCode
				res.Body = struct {
					io.Reader
					io.Closer
				}{io.TeeReader(res.Body, c.answer), res.Body}
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			if l.secret {
				http.NotFound(w, r)
				return
			}
			proxy.ServeHTTP(w, r)
			return
		}
		c := &llamaChat{answer: &bytes.Buffer{}}
		c.body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(c.body))
		l.mu.Lock()
		l.chats = append(l.chats, c)
		l.mu.Unlock()
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), llamaKey{}, c)))
	}))
	t.Cleanup(server.Close)
	l.URL = server.URL
	return l
}

// came returns what came since it was asked last.
func (l *llama) came() []*llamaChat {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.chats
	l.chats = nil
	return all
}

// postJSON sends a body to one of a server's paths.
func postJSON(t testing.TB, url string, body []byte) (status int, h http.Header, answer []byte) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, answer
}

const completions = "/v1/chat/completions"

// with returns a request with further members.
func with(body []byte, members string) []byte {
	return append(bytes.Clone(body[:len(body)-1]), ","+members+"}"...)
}

// growing returns the requests of a conversation, the first so many, each for one token.
func (c *chat) growing(model string, most int) (all [][]byte) {
	c.model = model
	for _, k := range c.points {
		if len(all) < most && c.lines[k-1].role != "assistant" {
			all = append(all, with(c.body(c.lines[:k]), `"max_tokens":1`))
		}
	}
	return all
}

// longChat returns a request of about so many tokens.
func longRequest(model string, tokens int) []byte {
	messages := []object{says("user", "count the words")}
	for i := range 12 {
		word := strings.Repeat(" word", tokens/24)
		messages = append(messages, says("assistant", strconv.Itoa(i)+word), says("user", "go on"+word))
	}
	return marshal(object{"model": model, "messages": messages, "max_tokens": 4})
}

// budgetOf returns the budget of a request of a few words.
func budgetOf(t testing.TB, url, model string) int {
	t.Helper()
	status, h, answer := postJSON(t, url+completions, marshal(object{"model": model, "messages": []object{says("user", "hello")}, "max_tokens": 1}))
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	n, err := strconv.Atoi(h.Get("X-Laconic-Budget"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// marshal returns a value as JSON.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}
