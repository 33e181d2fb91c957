package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"laconic/demo/strict"
)

// fakeProxy stands for the product: it repairs pairs, shortens old tool results in epochs, and sets the answer
// headers. It is as small as that can be; the real one is tested elsewhere.
type fakeProxy struct {
	budget int
	mute   bool // sets no headers
	twice  bool // tries the client's own bytes first, as a proxy does that does not know the limit
}

func (f fakeProxy) start(t *testing.T, up *strict.Upstream) (base string) {
	t.Helper()
	behind := httptest.NewServer(up)
	target, _ := url.Parse(behind.URL)
	forward := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent, header := f.fold(t, body)
		for name, value := range header {
			if !f.mute {
				w.Header().Set(name, value)
			}
		}
		if f.twice {
			resp, err := http.Post(behind.URL+r.URL.Path, "application/json", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				sent = body // a second answer would be the same
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		front.Close()
		behind.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return front.URL + "/v1"
}

type message = map[string]any

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: a request is always JSON: " + err.Error())
	}
	return b
}

// fold makes what is sent from what came. The same history always gives the same result.
func (f fakeProxy) fold(t *testing.T, body []byte) ([]byte, map[string]string) {
	var req map[string]any
	if err := json.Unmarshal(body, &req); err != nil {
		t.Error(err)
		return body, nil
	}
	var messages []message
	for _, m := range req["messages"].([]any) {
		messages = append(messages, m.(message))
	}
	tools := strict.ToolTokens(marshal(req["tools"]))
	before := tools + cost(messages...)
	repaired := repair(messages)
	outcome := "untouched"
	if !cmp.Equal(repaired, messages) {
		outcome = "repaired"
	}
	elided, running := 0, tools
	for i := range repaired {
		running += cost(repaired[i])
		atPoint := i+1 == len(repaired) || repaired[i+1]["role"] == "assistant"
		if !atPoint || running < f.budget*85/100 {
			continue
		}
		for ; elided < i-4 && running > f.budget*40/100; elided++ { // the newest four stay
			m := repaired[elided]
			old := cost(m)
			if text, ok := m["content"].(string); ok && m["role"] == "tool" && len(text) > 100 {
				repaired[elided] = message{"role": "tool", "tool_call_id": m["tool_call_id"], "content": fmt.Sprintf("(elided: %d bytes of tool result)", len(text))}
			} else if calls, ok := m["tool_calls"]; ok {
				repaired[elided] = message{"role": "assistant", "content": "…", "tool_calls": blank(calls)}
			}
			running -= old - cost(repaired[elided])
		}
		outcome = "compacted"
	}
	req["messages"] = repaired
	return marshal(req), map[string]string{
		"x-laconic-outcome": outcome, "x-laconic-budget": strconv.Itoa(f.budget),
		"x-laconic-tokens-before": strconv.Itoa(before), "x-laconic-tokens-after": strconv.Itoa(running),
		"x-laconic-stages": map[bool]string{true: fmt.Sprintf("elide_results;n=%d;saved=%d", elided, before-running)}[running < before],
	}
}

// blank empties the arguments of calls.
func blank(calls any) any {
	var out []any
	for _, c := range calls.([]any) {
		call := c.(message)
		name := call["function"].(message)["name"]
		out = append(out, message{"id": call["id"], "type": "function", "function": message{"name": name, "arguments": "{}"}})
	}
	return out
}

// cost counts as the strict upstream does.
func cost(messages ...message) (sum int) {
	for _, m := range messages {
		text, _ := m["content"].(string)
		seen := strict.Message{Text: text}
		if calls, ok := m["tool_calls"].([]any); ok {
			for _, c := range calls {
				f := c.(message)["function"].(message)
				seen.Calls = append(seen.Calls, strict.Call{Name: f["name"].(string), Arguments: f["arguments"].(string)})
			}
		}
		sum += strict.Tokens(seen)
	}
	return sum
}

// repair answers open calls and drops results without a call.
func repair(messages []message) []message {
	var out []message
	var open []string
	closeAll := func() {
		for _, id := range open {
			out = append(out, message{"role": "tool", "tool_call_id": id, "content": "(no result)"})
		}
		open = nil
	}
	for _, m := range messages {
		if m["role"] == "tool" {
			for i, id := range open {
				if id == m["tool_call_id"] {
					open = append(open[:i:i], open[i+1:]...)
					out = append(out, m)
					break
				}
			}
			continue
		}
		closeAll()
		out = append(out, m)
		if calls, ok := m["tool_calls"].([]any); ok {
			for _, c := range calls {
				open = append(open, c.(message)["id"].(string))
			}
		}
	}
	closeAll()
	return out
}
