package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"laconic/proxy/learn"
)

// signedBody is agentBody with signed thinking in every answer, from SIG0 on.
func signedBody(n, size int) string {
	body := agentBody(n, size)
	for i := range n {
		body = strings.Replace(body, `"content":null,"tool_calls":[{"id":"call_`, fmt.Sprintf(`"content":null,"thinking_blocks":[{"type":"thinking","thinking":"so","signature":"SIG%d."}],"tool_calls":[{"id":"was_`, i), 1)
	}
	return strings.ReplaceAll(body, `"id":"was_`, `"id":"call_`)
}

// andThen is a body with one more answer, which is signed so, and its result.
func andThen(body, signature string) string {
	return strings.Replace(body, `],"temp`, fmt.Sprintf(`,{"role":"assistant","content":"on","thinking_blocks":[{"type":"thinking","thinking":"so","signature":%q}]},{"role":"user","content":"go on"}],"temp`, signature), 1)
}

const misbound = "messages.1.content.0: Invalid signature in thinking block. The block is bound to a different conversation. Remove the block, or set thinking.block_binding.prefix_mismatch_behavior to \"drop_block\"."

// misboundBodies are the envelopes of the refusal.
func misboundBodies() map[string]string {
	quoted := string(must(json.Marshal(misbound)))
	inner := string(must(json.Marshal(`{"type":"error","error":{"type":"invalid_request_error","message":` + quoted + `}}`)))
	return map[string]string{
		"Anthropic":   `{"type":"error","error":{"type":"invalid_request_error","message":` + quoted + `}}`,
		"LiteLLM":     `{"error":{"message":"litellm.BadRequestError: AnthropicException - ` + inner[1:len(inner)-1] + `. Received Model Group=claude","type":null,"param":null,"code":"400"}}`,
		"OpenRouter":  `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":` + inner + `,"provider_name":"Anthropic"}}}`,
		"older words": `{"error":{"message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`,
	}
}

// binding is an upstream that refuses bodies with a signature that is stale.
func binding(t *testing.T, refuse func(w http.ResponseWriter), stale func(body []byte) bool) *upstream {
	return answering(t, func(w http.ResponseWriter, body []byte) bool {
		if !stale(body) {
			return false
		}
		refuse(w)
		return true
	})
}

func says400(body string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, body)
	}
}

func holdsSIG(body []byte) bool { return bytes.Contains(body, []byte(`"SIG`)) }

// TestMisboundThinkingIsLeftOutAndStaysOut: whatever envelope the refusal comes
// in, the request is sent once more without its thinking, and later requests of
// that history lack the same, and no other.
func TestMisboundThinkingIsLeftOutAndStaysOut(t *testing.T) {
	refusals := map[string]func(w http.ResponseWriter){"first event": func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+misboundBodies()["OpenRouter"]+"\n\ndata: [DONE]\n\n")
	}}
	for name, body := range misboundBodies() {
		refusals[name] = says400(body)
	}
	for name, refuse := range refusals {
		u := binding(t, refuse, holdsSIG)
		p := inFrontOf(t, u)
		send := func(what, body, outcome string, hits int, thinking ...string) {
			t.Helper()
			before := len(u.requests())
			res := p.chat(body)
			n, last := len(u.requests())-before, u.newest()
			if res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != outcome || n != hits {
				t.Errorf("%s: %s: %d %s after %d hits, want %s after %d", name, what, res.StatusCode, res.Header.Get("X-Laconic-Outcome"), n, outcome, hits)
			}
			if n := bytes.Count(last, []byte("thinking_blocks")); n != len(thinking) {
				t.Errorf("%s: %s: thinking in %d messages, want %v", name, what, n, thinking)
			}
			for _, s := range thinking {
				if !bytes.Contains(last, []byte(s)) {
					t.Errorf("%s: %s: the thinking of %s is away", name, what, s)
				}
			}
		}
		body := signedBody(3, 5)
		send("refused", body, "retried", 2)
		r := p.replies(1)[0]
		send("the next request", andThen(body, "new1"), "compacted", 1, "new1")
		send("the one after it", andThen(andThen(body, "new1"), "new2"), "compacted", 1, "new1", "new2")
		send("another history", strings.ReplaceAll(andThen(strings.Replace(body, "read the files", "read them", 1), "new1"), "SIG", "GOOD"), "untouched", 1, "GOOD0", "GOOD1", "GOOD2", "new1")
		send("another model", strings.Replace(body, "gpt-4o", "gpt-4.1", 1), "retried", 2)
		if i := r.Retry; i == nil || i.Reason != "thinking" || !i.Sent || !i.Answered || i.Second >= i.First || r.Outcome != Retried {
			t.Errorf("%s: %+v", name, r.Retry)
		}
		if page := p.learnt.Describe(); !strings.Contains(page, "thinking taken out of 1 history") {
			t.Errorf("%s: %s", name, page)
		}
	}
}

// TestRefusalsThatNothingCuresGoToTheClient: unchanged, and not by way of the
// client's own list.
func TestRefusalsThatNothingCuresGoToTheClient(t *testing.T) {
	const missing = "{\"error\":{\"message\":\"messages.5.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.\"}}"
	folded := signedBody(10, 100) // above its budget of 600, with room for the client's own list in the window
	wide := func(o *Options) { o.Default.Limits.Budget, o.Default.Limits.Window = 600, 100_000 }
	for _, c := range []struct {
		name, body, refusal, reason, why string
		hits                             int
	}{
		{"it misses what an epoch took out", folded, missing, "thinking", "missing", 1},
		{"the second send is refused too", signedBody(3, 5), misboundBodies()["LiteLLM"], "thinking", "", 2},
		{"the second send misses it", signedBody(3, 5), "", "thinking", "", 2},
		{"the history has none", agentBody(3, 5), misboundBodies()["LiteLLM"], "", "", 1},
	} {
		var n atomic.Int32
		refusal := c.refusal
		if refusal == "" {
			refusal = misboundBodies()["Anthropic"]
		}
		u := binding(t, func(w http.ResponseWriter) {
			if n.Add(1) > 1 && c.refusal == "" {
				says400(missing)(w)
				return
			}
			says400(refusal)(w)
		}, func([]byte) bool { return true })
		p := inFrontOf(t, u, wide)
		res := p.chat(c.body)
		if res.StatusCode != 400 || string(res.body) != refusal || len(u.requests()) != c.hits {
			t.Errorf("%s: %d after %d hits: %s", c.name, res.StatusCode, len(u.requests()), res.body)
		}
		switch i := p.replies(1)[0].Retry; {
		case c.reason == "" && i != nil, c.reason != "" && (i == nil || i.Reason != c.reason || i.Why != c.why || i.Answered):
			t.Errorf("%s: %+v", c.name, i)
		}
		if l := p.factsOf("gpt-4o"); len(l.Cuts) > 0 {
			t.Errorf("%s: it is remembered", c.name)
		}
	}
}

// TestThinkingThatWasNotSentIsNotTheReason: the refusal must be about something
// else, and nothing is left to take out.
func TestThinkingThatWasNotSentIsNotTheReason(t *testing.T) {
	var n atomic.Int32
	u := binding(t, says400(misboundBodies()["LiteLLM"]), func([]byte) bool { return n.Add(1) != 2 })
	p := inFrontOf(t, u)
	for n, status := range []int{200, 400} {
		p.chat(signedBody(3, 5)).want(t, status)
		p.replies(n + 1)
	}
	if i := p.replies(2)[1].Retry; len(u.requests()) != 3 || i == nil || i.Why != "none" || i.Sent {
		t.Errorf("%d hits, %+v", len(u.requests()), i)
	}
}

// TestWhatIsLearntMovesNoEpochBehindThinking: neither a limit that another history
// taught, nor a factor of the counter. A refusal of its own adds one.
func TestWhatIsLearntMovesNoEpochBehindThinking(t *testing.T) {
	u := newLimited(t, 1500, says)
	shared := func(o *Options) { o.Store = lasting(t, "a secret of this test") }
	p := inFrontOf(t, u, windowed(3000), shared) // a budget of 2,250
	send := func(what, body, outcome string) []byte {
		t.Helper()
		if res := p.chat(body); res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != outcome {
			t.Errorf("%s: %d %s, want %s", what, res.StatusCode, res.Header.Get("X-Laconic-Outcome"), outcome)
		}
		return u.newest()
	}
	send("another history teaches", agentBody(18, 100), "retried")
	if l := p.factsOf("gpt-4o"); l.Window.Value != 1500 || l.Hard.Value != 0 {
		t.Errorf("%+v", l)
	}
	send("below the trigger of what is set", signedBody(13, 100), "untouched")
	first := send("refused", signedBody(16, 100), "retried")
	l := p.factsOf("gpt-4o")
	if l.Hard.Value < 1000 || l.Hard.Value > 1600 {
		t.Errorf("%+v", l)
	}
	if n := wordsIn(first); n > 1500 || holdsSIG(first) {
		t.Errorf("%d words were sent, thinking: %v", n, holdsSIG(first))
	}
	again := send("once it is known", signedBody(16, 100), "compacted")
	if !bytes.Equal(first, again) {
		t.Errorf("the same history was sent as\n%s\nand\n%s", first, again)
	}
	l.Count.Value, l.Count.Until = learn.Count{Percent: 140}, time.Now().Add(time.Hour)
	l.Window.Value, l.Window.Until = 900, time.Now().Add(time.Hour)
	p = inFrontOf(t, u, windowed(3000), shared, func(o *Options) { o.Facts = pinned(l) })
	next := send("with another factor and window", andThen(signedBody(16, 100), "new"), "compacted")
	stem, _, _ := bytes.Cut(first, []byte(`],"temp`))
	if !bytes.HasPrefix(next, stem) || !bytes.Contains(next, []byte("new")) {
		t.Errorf("the next request does not begin as the one before:\n%s\n%s", stem, next)
	}
	res := p.chat(agentBody(16, 100))
	if n, err := strconv.Atoi(res.Header.Get("X-Laconic-Tokens-After")); err != nil || n == 0 || n > 900 {
		t.Errorf("a history without thinking is not planned by what was learnt: %v", res.Header)
	}
}
