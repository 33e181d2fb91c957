package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"laconic/compact/compacttest"
	"laconic/tokenize"
)

// billing is an upstream that counts prompts in a way of its own.
type billing struct {
	name  string
	text  func(string) int // of what a template writes; nil: the JSON is counted
	bytes int              // of JSON to a token
}

// billings are the five kinds of upstream that the counts of models nobody
// knows are held against.
func billings(t testing.TB) []billing {
	named := func(name string) *tokenize.Counter {
		c, err := tokenize.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	o200k, cl100k := named("o200k_base"), named("cl100k_base")
	return []billing{
		{name: "bytes/4", bytes: 4},
		{name: "bytes/3", bytes: 3},
		{name: "cl100k", text: cl100k.Text},
		{name: "o200k", text: o200k.Text},
		{name: "digit", text: func(s string) int { // as Qwen's does: each digit is a token, where cl100k_base takes three
			n, run := cl100k.Text(s), 0
			for i := 0; i <= len(s); i++ {
				if i < len(s) && '0' <= s[i] && s[i] <= '9' {
					run++
					continue
				}
				n, run = n+run-(run+2)/3, 0
			}
			return n
		}},
	}
}

// asked is a request as an upstream reads it.
type asked struct {
	Messages []json.RawMessage
	Tools    json.RawMessage
}

// bill is what a request costs: its messages and tools as JSON, or as a ChatML
// template writes them.
func (b *billing) bill(t testing.TB, body []byte) int {
	var r asked
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	if b.text == nil {
		n := len(packed(t, r.Tools))
		for _, m := range r.Messages {
			n += len(packed(t, m)) + 1
		}
		return n / b.bytes
	}
	total := 3
	if len(r.Tools) > 0 {
		total += 70 + b.text(spaced(packed(t, r.Tools)))
	}
	for _, raw := range r.Messages {
		total += 5 + b.text(written(t, raw))
	}
	return total
}

func packed(t testing.TB, raw []byte) []byte {
	var b bytes.Buffer
	if len(raw) > 0 && json.Compact(&b, raw) != nil {
		t.Fatal("no JSON")
	}
	return b.Bytes()
}

// spaced is compact JSON with a blank behind each comma and colon.
func spaced(raw []byte) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(raw); i++ {
		b.WriteByte(raw[i])
		switch {
		case raw[i] == '"':
			inside = !inside
		case inside && raw[i] == '\\':
			i++
			b.WriteByte(raw[i])
		case !inside && (raw[i] == ',' || raw[i] == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// written is the text of a message.
func written(t testing.TB, raw []byte) string {
	var m struct {
		Content   json.RawMessage
		Reasoning string `json:"reasoning_content"`
		ToolCalls []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	var text string
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	}
	text += m.Reasoning
	for _, c := range m.ToolCalls {
		text += fmt.Sprintf("\n<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", c.Function.Name, c.Function.Arguments)
	}
	return text
}

// billed is a proxy in front of an upstream that bills.
type billed struct {
	t    testing.TB
	addr string
	last int // the bill of the last request
}

func newBilled(t testing.TB, b billing) *billed {
	x := &billed{t: t}
	u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		x.last = b.bill(t, body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, x.last)
	}))
	t.Cleanup(u.Close)
	p := startLaconic(t, u.URL+"/v1", "", "--log-level", "warn")
	x.addr = strings.TrimPrefix(p.URL, "http://")
	return x
}

// send sends a request and returns what the proxy counted and what was billed.
func (x *billed) send(body []byte, client string) (counted, bill int) {
	x.t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+x.addr+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+client)
	r.Header.Set("X-Laconic-Budget", "100000000")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if counted, err = strconv.Atoi(res.Header.Get("X-Laconic-Tokens-After")); err != nil {
		x.t.Fatalf("status %d, %v", res.StatusCode, res.Header)
	}
	return counted, x.last
}

// toolsOfAgents are those of the agents whose requests are at hand, and none.
func toolsOfAgents(t testing.TB) (all [][]byte) {
	for _, file := range compacttest.CaptureFiles(t) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var first asked
		if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&first); err != nil {
			t.Fatal(err)
		}
		all = append(all, first.Tools)
	}
	return append(all, nil)
}

// playable returns every so many of the real conversations of texts alone, or
// those of the repository, as lists of growing requests; those without tools get an agent's, in turn.
func playable(t *testing.T, every, most int) (all [][][]byte) {
	tools := toolsOfAgents(t)
	chats := recordedChats(t)
	if compacttest.HasLargerSet(t) {
		chats = slices.DeleteFunc(chats, func(c *chat) bool { return c.own })
	} else {
		every = 1
	}
	for i, c := range chats {
		whole := c.body(c.lines)
		if i%every != 0 || bytes.Contains(whole, []byte(`"image`)) || bytes.Contains(whole, []byte(`"thinking_blocks`)) || len(c.points) < 6 {
			continue
		}
		c.model = "a-model-that-nobody-knows"
		if len(c.tools) == 0 {
			c.tools = tools[len(all)%len(tools)]
		}
		var requests [][]byte
		for _, k := range c.points[:min(len(c.points), most)] {
			requests = append(requests, c.body(c.lines[:k]))
		}
		all = append(all, requests)
	}
	return all
}
