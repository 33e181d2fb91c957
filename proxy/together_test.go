package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestTheWholeAnswerIsKeptFreeOnceItWasRefused: agents ask for long answers and get
// short ones. So a prompt is sent that leaves room for what answers usually take, and
// one that leaves room for the whole answer once the upstream refused both together.
func TestTheWholeAnswerIsKeptFreeOnceItWasRefused(t *testing.T) {
	const window, asked, usual = 4000, 2000, 1000
	body := func(exchanges int) string {
		return strings.Replace(agentBody(exchanges, 100), `{"model"`, fmt.Sprintf(`{"max_tokens":%d,"model"`, asked), 1)
	}
	f := func(name string, takes int, refuse func(w http.ResponseWriter, words, limit int), refused, free int) {
		t.Helper()
		u := newLimited(t, takes, refuse)
		p := inFrontOf(t, u.upstream, windowed(window))
		for _, exchanges := range []int{25, 28, 50, 52} { // some 2,600 words, and more than the window
			if res := p.chat(body(exchanges)); res.StatusCode != 200 {
				t.Errorf("%s: %d %s", name, res.StatusCode, res.body)
			}
		}
		all := p.replies(4)
		if hits := len(u.requests()); hits != len(all)+refused {
			t.Errorf("%s: %d refused, want %d", name, hits-len(all), refused)
		}
		if r := all[0].Rewrite; refused == 0 && r.Outcome != Untouched {
			t.Errorf("%s: %s, and the prompt fits", name, r.Outcome)
		}
		for _, r := range all {
			if got := window - r.Rewrite.Report.Budget; got != free {
				t.Errorf("%s: %d kept free, want %d", name, got, free)
			}
		}
	}
	f("llama.cpp", window, says, 0, usual)
	f("openai", window-asked, func(w http.ResponseWriter, words, _ int) {
		w.WriteHeader(400)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`, window, words+asked, words, asked)
	}, 1, asked)
	f("vllm, of the prompt alone at first", window-asked, func(w http.ResponseWriter, words, _ int) {
		w.WriteHeader(400)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.","code":400}}`, window, words)
	}, 1, asked)
	f("llama.cpp, with a window of 2,500", 2500, says, 1, window-2500+2500/4)
}
