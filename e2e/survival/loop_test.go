package survival

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"laconic/demo/strict"
)

// reader is a model that reads files, some at once, and calls again whatever it
// cannot see the result of.
type reader struct {
	rounds [][]string // the files that it reads
	files  map[string]listed

	mu    sync.Mutex // guards what follows
	round int
	again int // calls that were made more than once
}

// listed is a file whose first line, and a token in its head, show that it was
// read.
type listed struct{ first, token, text string }

// reply goes on where all results of the newest calls can be seen.
func (m *reader) reply(r *strict.Request) strict.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.round > 0 {
		var unseen []string
		for _, path := range m.rounds[m.round-1] {
			if !m.sees(r.Messages, path) {
				unseen = append(unseen, path)
			}
		}
		if len(unseen) > 0 {
			m.again += len(unseen)
			return strict.Reply{Calls: reads(unseen)}
		}
	}
	if m.round++; m.round > len(m.rounds) {
		return strict.Reply{Text: sessionIsOver}
	}
	return strict.Reply{Calls: reads(m.rounds[m.round-1])}
}

func (m *reader) sees(messages []strict.Message, path string) bool {
	f := m.files[path]
	return slices.ContainsFunc(messages, func(g strict.Message) bool {
		return g.Role == "tool" && strings.HasPrefix(g.Text, f.first+"\n") && strings.Contains(g.Text, f.token)
	})
}

func reads(paths []string) []strict.Call {
	var calls []strict.Call
	for _, path := range paths {
		calls = append(calls, strict.Call{Name: "read_file", Arguments: string(marshal(map[string]string{"path": path}))})
	}
	return calls
}

// newReader makes a model that reads so many files at once.
func newReader(seed uint64, atOnce int) *reader {
	r := rand.New(rand.NewPCG(seed, uint64(atOnce)))
	w := newWorkspace(seed, tokenizers[0].text)
	m := &reader{files: map[string]listed{}}
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		if strings.HasPrefix(name, "src/") {
			text := w.files[name]
			first, token := "File "+name+", as it is now", fmt.Sprintf("rev-%08x", r.Uint32())
			m.files[name] = listed{first, token, fmt.Sprintf("%s\nRevision %s, %d bytes\n\n%s", first, token, len(text), text)}
			paths = append(paths, name)
		}
	}
	for batch := range slices.Chunk(paths[:8], atOnce) {
		m.rounds = append(m.rounds, batch)
	}
	return m
}

// TestLoopEnds: an agent that calls again whatever it cannot see the result of
// comes to its end, without a call made twice, at every budget above what must
// stay: instructions, tools, first and newest user message, the newest calls, the
// framing, and 200 tokens for each of their results.
func TestLoopEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	var mu sync.Mutex
	models := map[string]*reader{}
	upstream := strict.New(strict.Options{Limit: -1, Reply: func(r *strict.Request) strict.Reply {
		mu.Lock()
		m := models[r.Header.Get("Authorization")]
		mu.Unlock()
		return m.reply(r)
	}})
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	p := startLaconic(t, server.URL+"/v1", "")
	for _, family := range []string{"gpt-4o-reader", "house-reader"} { // counted exactly, and by an estimate
		for _, atOnce := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s-%d", family, atOnce), func(t *testing.T) {
				t.Parallel()
				readAll(t, p.URL, family, atOnce, func(model string, m *reader) {
					mu.Lock()
					defer mu.Unlock()
					models["Bearer sk-"+model] = m
				})
			})
		}
	}
}

// readAll runs a session at each of 20 budgets, from the least to far above.
func readAll(t *testing.T, url, family string, atOnce int, known func(model string, m *reader)) {
	m := newReader(uint64(atOnce), atOnce)
	least := mustStay(t, m, family) + 200*atOnce
	for i := range 20 {
		budget := least + i*i*5*atOnce
		m := &reader{rounds: m.rounds, files: m.files}
		a := m.agent(url, fmt.Sprintf("%s-%d-%d", family, atOnce, i))
		known(a.model, m)
		a.header = http.Header{"X-Laconic-Budget": {fmt.Sprint(budget)}}
		text, status, err := a.session(2*len(m.rounds) + 4)
		if err != nil || status != http.StatusOK || text != sessionIsOver || m.again > 0 {
			t.Errorf("budget %d (%d above what must stay): %d of %d rounds, %d calls made again, status %d, %v",
				budget, budget-least+200*atOnce, m.round, len(m.rounds), m.again, status, err)
		}
	}
}

// agent is the client of the model, before its first request.
func (m *reader) agent(url, model string) *agent {
	a := &agent{url: url, model: model, form: plainText, perform: func(c call) string {
		var arguments struct{ Path string }
		_ = json.Unmarshal([]byte(c.Function.Arguments), &arguments)
		return m.files[arguments.Path].text
	}}
	a.says("system", instructions)
	a.says("user", "You are going to read sources for me. Are you ready?")
	a.says("assistant", "Ready.")
	a.says("user", "Read the sources, and say when you have seen them all.")
	return a
}

// mustStay is what a request of this model costs at most, as laconic counts,
// with nothing in it but what must stay, and results that are empty.
func mustStay(t *testing.T, m *reader, model string) int {
	most := 0
	for _, paths := range m.rounds {
		a := m.agent("", model)
		var calls []call
		for i, c := range reads(paths) {
			made := call{ID: fmt.Sprintf("call_strict%07d%03d", 1, i), Type: "function"}
			made.Function.Name, made.Function.Arguments = c.Name, c.Arguments
			calls = append(calls, made)
		}
		a.add(map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}, strict.Message{})
		for _, c := range calls {
			a.add(map[string]any{"role": "tool", "tool_call_id": c.ID, "content": ""}, strict.Message{})
		}
		cmd := exec.Command(command(t), "count", "--json")
		cmd.Stdin = bytes.NewReader(a.body())
		out, err := cmd.Output()
		var counted struct{ Total int }
		if err != nil || json.Unmarshal(out, &counted) != nil || counted.Total == 0 {
			t.Fatalf("laconic count: %v %s", err, out)
		}
		most = max(most, counted.Total)
	}
	return most
}
