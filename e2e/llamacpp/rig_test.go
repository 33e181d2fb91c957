package llamacpp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/tidwall/gjson"

	"laconic/e2e/llamacpp"
	"laconic/e2e/rig"
	"laconic/store/storetest"
)

// TestMain fails the tests when they left a goroutine behind.
func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

// full reports whether `make llamacpp` asked for every template, vocabulary and
// conversation, which takes minutes.
func full() bool { return os.Getenv("LACONIC_LLAMACPP") == "full" }

// model writes the model that is asked: with a vocabulary of llama.cpp, "deepseek-v3" for
// DeepSeek's, or "" for OpenAI's cl100k_base.
func model(t testing.TB, vocabulary string) (file string) {
	t.Helper()
	var v *llamacpp.Vocabulary
	var err error
	switch vocabulary {
	case "":
		v, err = llamacpp.Cl100k("../../tokenize/bpe/data/cl100k_base.merges")
	case "deepseek-v3":
		v, err = llamacpp.FromJSON(filepath.Join(llamacpp.Fetched(t, "deepseek"), "package", "models", "tokenizer.json"), vocabulary, 129_280)
	default:
		v, err = llamacpp.FromGGUF(filepath.Join(llamacpp.Fetched(t, "models"), "ggml-vocab-"+vocabulary+".gguf"))
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

// startLlama starts a llama-server with a model, a chat template of llama.cpp and a
// window.
func startLlama(t testing.TB, file, template string, window int, args ...string) *llama {
	t.Helper()
	templates := filepath.Join(llamacpp.Fetched(t, "models"), "templates")
	args = append(args, "--chat-template-file", filepath.Join(templates, template+".jinja"), "-m", file, "-c", strconv.Itoa(window))
	return front(llamacpp.Start(t, storetest.FreeAddress(t), args...), t)
}

// front puts a proxy before a server that notes what comes.
func front(direct string, t testing.TB) *llama {
	l := &llama{direct: direct}
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

const completions = "/v1/chat/completions"

type object = map[string]any

// marshal returns a value as JSON.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}

// with returns a request with further members.
func with(body []byte, members string) []byte {
	return append(bytes.Clone(body[:len(body)-1]), ","+members+"}"...)
}

func says(role, text string) object { return object{"role": role, "content": text} }

// calls returns a message with calls of the tool look, and their results.
func calls(ids ...string) []object {
	var list, results []object
	for _, id := range ids {
		list = append(list, object{"id": id, "type": "function", "function": object{"name": "look", "arguments": "{}"}})
		results = append(results, object{"role": "tool", "tool_call_id": id, "content": "seen " + id})
	}
	return append([]object{{"role": "assistant", "content": "", "tool_calls": list}}, results...)
}

// tool returns a tool with one property, as the chat API has it.
func tool(name, description string) object {
	return object{"type": "function", "function": object{
		"name": name, "description": description,
		"parameters": object{"type": "object", "properties": object{"path": object{"type": "string", "description": "Where it does that."}}, "required": []string{"path"}},
	}}
}

// chatOf returns the conversations with these IDs.
func chatsOf(t testing.TB, ids ...string) []*rig.Chat {
	return rig.Chats(t, func(_ int, id string) bool {
		for _, one := range ids {
			if id == one {
				return true
			}
		}
		return false
	})
}

// growing returns the requests of a conversation, the first so many, each for one token.
func growing(c *rig.Chat, model string, most int) (all [][]byte) {
	c.Model = model
	for _, k := range c.Points() {
		if len(all) < most && gjson.GetBytes(c.Messages[k-1], "role").Str != "assistant" {
			all = append(all, with(c.Body(c.Messages[:k], ","), `"max_tokens":1`))
		}
	}
	return all
}

// longRequest returns a request of about so many tokens.
func longRequest(model string, tokens int) []byte {
	messages := []object{says("user", "count the words")}
	for i := range 12 {
		word := strings.Repeat(" word", tokens/24)
		messages = append(messages, says("assistant", fmt.Sprint(i, word)), says("user", "go on"+word))
	}
	return marshal(object{"model": model, "messages": messages, "max_tokens": 4})
}

// budgetOf returns the budget of a request of a few words.
func budgetOf(t testing.TB, url, model string) int {
	t.Helper()
	status, h, answer := rig.Post(t, url+completions, marshal(object{"model": model, "messages": []object{says("user", "hello")}, "max_tokens": 1}))
	n, err := strconv.Atoi(h.Get("X-Laconic-Budget"))
	if status != http.StatusOK || err != nil {
		t.Fatalf("%d %v %s", status, err, answer)
	}
	return n
}
