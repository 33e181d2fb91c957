package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact/compacttest"
	"laconic/e2e/llamacpp"
)

// strictTemplates refuse lists that others take.
var strictTemplates = []string{
	"Qwen3.5-4B", "google-gemma-2-2b-it", "meta-llama-Llama-3.1-8B-Instruct", "mistralai-Ministral-3-14B-Reasoning-2512",
	"mistralai-Mistral-Nemo-Instruct-2407", "Mistral-Small-3.2-24B-Instruct-2506",
}

// TestLlamaCppTemplates: no chat template refuses a folded request of which it takes the
// original. The strict ones see what has new neighbours of a few conversations, or of all
// where there is no larger set; all 70 see that of all conversations with `make llamacpp`.
func TestLlamaCppTemplates(t *testing.T) {
	t.Parallel()
	models := llamacpp.Models(t)
	names, every, newest := strictTemplates, 8, 6
	if !compacttest.HasLargerSet(t) {
		every = 1
	}
	if allOfLlamaCpp() {
		names, every, newest = nil, 1, math.MaxInt
		all, _ := filepath.Glob(filepath.Join(models, "templates", "*.jinja"))
		for _, file := range all {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".jinja"))
		}
		if len(names) < 60 {
			t.Fatalf("only %d templates", len(names))
		}
	}
	pairs := neighbourhoods(t, every, newest)
	file, refused := model(t, ""), 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			l := startLlama(t, append(template(t, name), "-m", file, "-c", "4096")...)
			var original, folded, only int
			for _, p := range pairs {
				before, _ := l.takes(t, p.original)
				after, why := l.takes(t, p.folded)
				switch {
				case before && after:
					original, folded = original+1, folded+1
				case before:
					original++
					t.Errorf("it takes the original and refuses\n%s\n%s", strings.Join(rolesOf(p.folded), ", "), why)
				case after:
					folded, only = folded+1, only+1
				}
			}
			refused += len(pairs) - original
			t.Logf("it takes %d of %d originals, %d folded, %d only folded", original, len(pairs), folded, only)
		})
	}
	if len(pairs) < 20 || refused < 20 {
		t.Errorf("%d requests, %d refused as they came: too few to show anything", len(pairs), refused)
	}
}

// oneByOne is the conversation with one call a message, and with ids of nine characters.
func (c *chat) oneByOne() *chat {
	one := &chat{id: c.id + " one by one", model: c.model, tools: c.tools, gap: c.gap, peak: c.peak}
	ids := map[string]string{}
	id := func(old string) string {
		if ids[old] == "" {
			ids[old] = fmt.Sprintf("%09d", len(ids))
		}
		return ids[old]
	}
	for i := 0; i < len(c.lines); i++ {
		l := c.lines[i]
		switch {
		case l.answers != "":
			one.add(l.with("tool_call_id", id(l.answers)))
		case len(l.calls) > 0:
			results := c.lines[i+1:]
			for k, call := range l.calls {
				alone := l.with("tool_calls", []any{json.RawMessage(gjson.GetBytes(l.raw, "tool_calls."+strconv.Itoa(k)).Raw)})
				if k > 0 {
					alone = alone.without("content")
				}
				one.add(alone.with("tool_calls.0.id", id(call)))
				for j, r := range results {
					if j < len(l.calls) && r.answers == call {
						one.add(r.with("tool_call_id", id(call)))
					}
				}
			}
			for i+1 < len(c.lines) && slices.Contains(l.calls, c.lines[i+1].answers) {
				i++
			}
		default:
			one.add(l)
		}
	}
	return one
}

// talk is the conversation as users and assistants in turn, without instructions.
func (c *chat) talk() *chat {
	talk := &chat{id: c.id + " talk", model: c.model, gap: c.gap, peak: c.peak}
	role, text := "", ""
	for _, l := range append(slices.Clone(c.lines), chatLine{role: "end"}) {
		now := map[string]string{"tool": "user", "system": "", "developer": ""}
		r, ok := now[l.role]
		if !ok {
			r = l.role
		}
		if r == "" || role == "" && r != "user" {
			continue
		}
		if r != role && role != "" {
			talk.add(lineOf(marshal(says(role, text))))
			text = ""
		}
		role = r
		text += "\n" + gjson.GetBytes(l.raw, "content").String() + gjson.GetBytes(l.raw, "tool_calls").Raw
	}
	return talk
}

// add appends a message, before which a request was sent if it is an answer.
func (c *chat) add(l chatLine) {
	if l.role == "assistant" && len(c.lines) > 0 {
		c.points = append(c.points, len(c.lines))
	}
	c.lines = append(c.lines, l)
}

// takes reports whether a server's template takes a request, and what it says else.
func (l *llama) takes(t testing.TB, body []byte) (bool, string) {
	t.Helper()
	status, _, answer := postJSON(t, l.direct+"/apply-template", body)
	return status == http.StatusOK, gjson.GetBytes(answer, "error.message").String()
}

// foldedPair is a request as it came and as it went on, with short texts.
type foldedPair struct{ original, folded []byte }

// neighbourhoods folds the requests of some conversations and returns those whose lists
// have roles side by side, at the head or at the end that no other one has. It takes
// one of every so many conversations, and of each the newest requests.
func neighbourhoods(t *testing.T, every, newest int) (all []foldedPair) {
	t.Helper()
	var sent []byte
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		sent, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(upstream.Close)
	p := startLaconic(t, upstream.URL+"/v1", "")
	known := map[string]bool{}
	var chats []*chat
	for _, c := range someChats(t, func(n int, _ string) bool { return n%every == 0 }) {
		chats = append(chats, c, c.oneByOne(), c.talk())
	}
	for i, c := range chats {
		for _, k := range c.points[max(0, len(c.points)-newest):] {
			if c.lines[k-1].role == "assistant" {
				continue
			}
			original := c.body(c.lines[:k])
			for _, part := range []int{2, 4, 8} {
				r, err := http.NewRequest(http.MethodPost, p.URL+completions, bytes.NewReader(original))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("X-Laconic-Budget", strconv.Itoa(max(1, c.peak/part)))
				if _, _, _, err = exchange(client, r); err != nil {
					t.Fatal(err)
				}
				if bytes.Equal(sent, original) {
					continue
				}
				isNew := false
				for _, n := range sides(rolesOf(sent)) {
					n = strconv.Itoa(i%3) + n
					isNew = isNew || !known[n]
					known[n] = true
				}
				if isNew {
					all = append(all, foldedPair{shortened(t, original), shortened(t, sent)})
				}
			}
		}
	}
	t.Logf("%d requests have %d neighbourhoods", len(all), len(known))
	return all
}

// rolesOf names the messages of a request by what templates tell apart.
func rolesOf(body []byte) (all []string) {
	gjson.GetBytes(body, "messages").ForEach(func(_, m gjson.Result) bool {
		name := m.Get("role").String()
		switch c := m.Get("content"); {
		case c.IsArray():
			name += " parts"
		case c.String() == "":
			name += " empty"
		}
		switch n := len(m.Get("tool_calls").Array()); {
		case n > 1:
			name += " calls"
		case n == 1:
			name += " call"
		}
		if m.Get("reasoning_content").Exists() {
			name += " thinking"
		}
		all = append(all, name)
		return true
	})
	return all
}

// sides are all threes of a list that stand side by side, its head and its end.
func sides(roles []string) (all []string) {
	roles = slices.Concat([]string{"^", "^"}, roles, []string{"$", "$"})
	for i := 2; i < len(roles); i++ {
		all = append(all, strings.Join(roles[i-2:i+1], ", "))
	}
	return all
}

// shortened returns a request whose texts have sixty characters, with two small tools:
// templates look at the order of roles.
func shortened(t *testing.T, body []byte) []byte {
	t.Helper()
	var r struct {
		Messages []map[string]any `json:"messages"`
		Tools    []any            `json:"tools,omitempty"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	cut := func(v any) any {
		text, ok := v.(string)
		if runes := []rune(text); ok && len(runes) > 60 {
			return string(runes[:60])
		}
		return v
	}
	for _, m := range r.Messages {
		for _, key := range []string{"content", "reasoning_content"} {
			if v, ok := m[key]; ok {
				m[key] = cut(v)
			}
		}
		parts, _ := m["content"].([]any)
		for _, p := range parts {
			if p, ok := p.(map[string]any); ok && p["text"] != nil {
				p["text"] = cut(p["text"])
			}
		}
	}
	if r.Tools = slices.Clip(r.Tools[:min(2, len(r.Tools))]); len(r.Tools) > 0 {
		for i := range r.Tools {
			r.Tools[i] = object{"type": "function", "function": object{
				"name": "tool" + strconv.Itoa(i), "description": "does it",
				"parameters": object{"type": "object", "properties": object{"x": object{"type": "string"}}},
			}}
		}
	}
	short, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return short
}
