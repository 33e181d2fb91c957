package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// TestAnAgentsOwnCompactionIsSentBehindWhatWasSentBefore: an agent whose history was
// compacted asks for a summary of it. The upstream gets the same bytes, and then the
// prompt. The log, the answer and the account name such a request, and no other.
func TestAnAgentsOwnCompactionIsSentBehindWhatWasSentBefore(t *testing.T) {
	var log logged
	u, p := plain(t, func(o *Options) { o.Listener = LogTo(log.at(zap.DebugLevel)) })
	const end = `],"temperature":0.5}`
	prompt := `,{"role":"user","content":"Provide a detailed summary of our conversation above."}`
	const from, to = 10, 20 // rounds; in some of them the request before had an epoch at its end
	for n := from; n < to; n++ {
		before := agentBody(n, 100)
		asks := strings.TrimSuffix(before, end) + prompt + end
		plain, asked := p.chat(before).Header, p.chat(asks).Header
		if a, b := plain.Get("X-Laconic-Request-Kind"), asked.Get("X-Laconic-Request-Kind"); a != "" || b != "compaction of crush" {
			t.Errorf("kinds %q and %q", a, b)
		}
		seen := u.requests()[2*(n-from):]
		if want := strings.TrimSuffix(string(seen[0].Body), end) + prompt + end; string(seen[1].Body) != want || len(want) >= len(asks) {
			t.Errorf("%d rounds: got  %s\nwant %s", n, seen[1].Body, want)
		}
	}
	p.replies(2 * (to - from))
	if n := strings.Count(log.text(), `"request_kind":"compaction of crush"`); n != to-from {
		t.Errorf("%d lines name it", n)
	}
}

// TestAnAgentThatPutsItsHistoryIntoOneMessageHearsTheUpstream: nothing is edited, and
// the refusal passes after one attempt, so that the agent can send less.
func TestAnAgentThatPutsItsHistoryIntoOneMessageHearsTheUpstream(t *testing.T) {
	const refusal = `{"error":{"message":"This model's maximum context length is 1000 tokens. However, your messages resulted in 3009 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, refusal)
	})
	p := inFrontOf(t, u)
	body := `{"model":"gpt-4o","messages":[{"role":"system","content":"You are a context summarization agent. Be brief."},` +
		`{"role":"user","content":[{"type":"text","text":"Here is the conversation so far: ` + strings.Repeat("word ", 3000) + `"}]}]}`
	res := p.chat(body)
	if res.StatusCode != http.StatusBadRequest || string(res.body) != refusal || res.Header.Get("X-Laconic-Outcome") != "over" ||
		res.Header.Get("X-Laconic-Request-Kind") != "compaction of opencode" {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, res.body)
	}
	if got := string(u.only(t).Body); got != body {
		t.Errorf("other bytes went out: %s", got)
	}
}
