//go:build unix

package cluster

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"laconic/demo/strict"
)

// upstream is as strict as OpenAI. What a model does differently follows from its
// name:
//
//   - small-…: it has a window of 6,000 tokens, and says so when it refuses
//   - heavy-…: it counts 1.4 times as much as the proxy
//   - plain-…: its template takes no text in the place of what left
//   - bound-…: it refuses thinking
//   - house-summaries: it writes summaries
//
// All others have no limit, and do not say what they count.
type upstream struct {
	addr   string
	server *http.Server

	mu        sync.Mutex
	bodies    map[string][][]byte // by the header x-conversation
	hits      map[string]int      // by the header x-request
	refused   map[string]int      // by model
	summaries map[[32]byte]int    // by prompt
	illegal   []string
}

func startUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{bodies: map[string][][]byte{}, hits: map[string]int{}, refused: map[string]int{}, summaries: map[[32]byte]int{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.addr = l.Addr().String()
	u.server = &http.Server{Handler: u, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = u.server.Serve(l) }()
	t.Cleanup(func() { _ = u.server.Close() })
	return u
}

var (
	silent = strict.New(strict.Options{
		Limit: -1,
		Count: func(strict.Message) int { return 0 }, CountTools: func([]byte) int { return 0 },
	})
	small = strict.New(strict.Options{Limit: 6000})
	heavy = strict.New(strict.Options{
		Limit:      -1,
		Count:      func(m strict.Message) int { return strict.Tokens(m) * 14 / 10 },
		CountTools: func(b []byte) int { return strict.ToolTokens(b) * 14 / 10 },
	})
)

const (
	jinja    = `{"error":{"code":500,"message":"Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.","type":"server_error"}}`
	misbound = `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid signature in thinking block. The block is bound to a different conversation. Remove the block."}}`
)

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // cut on the way
	}
	if r.Method != http.MethodPost {
		silent.ServeHTTP(w, r)
		return
	}
	model := gjson.GetBytes(body, "model").String()
	kind, _, _ := strings.Cut(model, "-")
	judge := silent
	switch kind {
	case "small":
		judge = small
	case "heavy":
		judge = heavy
	}
	u.mu.Lock()
	if id := r.Header.Get("X-Conversation"); id != "" {
		u.bodies[id] = append(u.bodies[id], body)
	}
	if id := r.Header.Get("X-Request"); id != "" {
		u.hits[id]++
	}
	_, no := judge.Read("/chat/completions", body)
	refuses := ""
	switch {
	case no != nil && no.Kind != strict.KindOverflow:
		u.illegal = append(u.illegal, no.Message)
	case no != nil:
		refuses = "too long"
	case kind == "plain" && bytes.Contains(body, []byte("[Record")):
		refuses = jinja
	case kind == "bound" && bytes.Contains(body, []byte("thinking_blocks")):
		refuses = misbound
	}
	if refuses != "" {
		u.refused[model]++
	}
	if kind == "house" {
		u.summaries[sha256.Sum256(body)]++
	}
	u.mu.Unlock()

	w.Header().Set("Content-Type", "application/json")
	switch {
	case refuses == jinja:
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, jinja)
	case refuses == misbound:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, misbound)
	case kind == "house":
		_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"The agent read the files that it was told of, changed the parser, and ran its tests: run %x."}}]}`, sha256.Sum256(body))
	case r.Header.Get("X-Events") != "":
		stream(w, r)
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		judge.ServeHTTP(w, r)
	}
}

// stream sends as many events as the request wants, at the pace that it wants.
func stream(w http.ResponseWriter, r *http.Request) {
	n, pace, _ := strings.Cut(r.Header.Get("X-Events"), " ")
	events, _ := strconv.Atoi(n)
	pause, _ := time.ParseDuration(pace)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for i := range events {
		if i > 0 {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(pause):
			}
		}
		_, _ = fmt.Fprintf(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word %d "},"finish_reason":null}]}`+"\n\n", i)
		_ = out.Flush()
	}
	_, _ = io.WriteString(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

func (u *upstream) refusals(model string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refused[model]
}

// asked returns for how many prompts a summary was asked, and how often in all.
func (u *upstream) asked() (prompts, times int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, n := range u.summaries {
		prompts++
		times += n
	}
	return prompts, times
}

// got returns the bodies of a conversation, in their order.
func (u *upstream) got(conversation string) [][]byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bodies[conversation]
}

// complaints returns what was illegal, and which requests came more than once.
func (u *upstream) complaints() (all []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	all = append(all, u.illegal...)
	for id, n := range u.hits {
		if n > 1 {
			all = append(all, fmt.Sprintf("request %s came %d times", id, n))
		}
	}
	return all
}
