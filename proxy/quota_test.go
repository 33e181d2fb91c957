package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"laconic/proxy/apierror"
)

// Beyond its quota the holder of a key gets 429 in the envelope of its API, and no
// upstream its request. Other keys go on.
func TestAClientKeyHasAQuota(t *testing.T) {
	const alice, bob = "key-of-alice", "key-of-bob"
	const streamed = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n" +
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":90,\"completion_tokens\":20}}\n\ndata: [DONE]\n\n"
	up := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, streamed)
	})
	p := inFrontOf(t, up, func(o *Options) {
		o.Default.Key = "sk-upstream"
		o.ClientKeys = []ClientKey{
			{Key: alice, Name: "ALICE", Quota: Quota{TokensPerDay: 200}},
			{Key: bob, Name: "BOB", Quota: Quota{RequestsPerMinute: 1}},
		}
	})
	n := 0
	f := func(key, path string, status int, code, says string) {
		t.Helper()
		res := p.do("POST", path, strings.NewReader(chatBody), "Authorization", "Bearer "+key, "Content-Type", "application/json")
		n++
		i := p.replies(n)[n-1]
		if res.StatusCode != status || i.Code != code || !strings.Contains(string(res.body), says) || (status == 429) != (res.Header.Get("Retry-After") != "") {
			t.Errorf("%s: %d %s %v: %s", key, res.StatusCode, i.Code, res.Header, res.body)
		}
		if i.Client != map[string]string{alice: "ALICE", bob: "BOB"}[key] {
			t.Errorf("%s is %q", key, i.Client)
		}
	}
	f(alice, "/v1/chat/completions", 200, "", "hi")
	f(alice, "/v1/chat/completions", 200, "", "hi") // 110 of 200 tokens
	f(alice, "/v1/chat/completions", 429, apierror.CodeBudget, `"code":"insufficient_quota"`)
	f(alice, "/v1/messages", 429, apierror.CodeBudget, `{"type":"error","error":{"type":"rate_limit_error"`)
	f(bob, "/v1/chat/completions", 200, "", "hi")
	f(bob, "/v1/embeddings", 429, apierror.CodeRate, "1 request per minute")
	f("somebody-else", "/v1/chat/completions", 401, "invalid_api_key", "")
	up.saw(t, 3)
}

// A client that leaves before the usage comes pays for its prompt: the upstream read it.
func TestAClientThatLeavesPaysForItsPrompt(t *testing.T) {
	reply, _, _ := leaving("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n")
	p := inFrontOf(t, newUpstream(t, reply), func(o *Options) {
		o.Default.Key = "sk-upstream"
		o.ClientKeys = []ClientKey{{Key: "key-of-alice", Name: "ALICE", Quota: Quota{TokensPerDay: 1}}}
	})
	for n, want := range []int{StatusClientLeft, http.StatusTooManyRequests} {
		conn := dial(t, p.addr)
		_, _ = io.WriteString(conn, post("Authorization: Bearer key-of-alice\r\nContent-Type: application/json\r\n", chatBody))
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.Close()
		if i := p.replies(n + 1)[n]; i.Status != want {
			t.Fatalf("%d %s, want %d", i.Status, i.Code, want)
		}
	}
}
