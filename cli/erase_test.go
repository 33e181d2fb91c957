package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"laconic/cli/runlog"
	"laconic/e2e/rig"
)

// TestTheSummariesOfOneClientAreErased, by its name or by its key; those of another stay. Nothing shows a key.
func TestTheSummariesOfOneClientAreErased(t *testing.T) {
	var asked atomic.Int64 // summaries
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"model":"small"`) {
			asked.Add(1)
		}
		text, _ := json.Marshal("State: all files were read, and nothing was changed so far; the tests were not run.")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":`+string(text)+`},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(upstream.Close)
	const alice, bob, other = "sk-alice-canary-key-1", "sk-bob-canary-key-22", "sk-other-canary-key-3"
	conversation := must(os.ReadFile("../demo/conversation.json"))
	f := func(t *testing.T, settings string, try func(url string, erase func(want int, says, form string), makes func(key string, summaries bool))) {
		t.Setenv("ALICE", alice)
		t.Setenv("BOB", bob)
		asked.Store(0)
		src := "upstream: " + upstream.URL + "/v1\nsummarizer: {model: small, api_key: own-key-of-the-test, wait: 1m}\n" + settings
		p, _ := proxyFor(t, parsed(t, src, os.LookupEnv))
		said := &lockedText{}
		log := runlog.New("error", "json", said)
		t.Cleanup(log.Close)
		url, admin := served(t, p, eraser(p, nil, log))
		erase := func(want int, says, form string) {
			t.Helper()
			status, _, got := rig.Post(t, admin+"/erase", []byte(form), "Content-Type", "application/x-www-form-urlencoded")
			if status != want || !strings.Contains(string(got), says) || strings.Contains(string(got), "canary") {
				t.Errorf("%s: %d %s", form, status, got)
			}
		}
		makes := func(key string, summaries bool) {
			t.Helper()
			before := asked.Load()
			status, _, _ := rig.Post(t, url+"/v1/chat/completions", conversation, "Authorization", "Bearer "+key)
			if status != http.StatusOK || (asked.Load() > before) != summaries {
				t.Errorf("a request with %.6s: status %d, %d summaries were made, want some: %v", key, status, asked.Load()-before, summaries)
			}
		}
		try(admin+"/erase", erase, makes)
		log.Close()
		if text := said.String(); strings.Contains(text, "canary") || !strings.Contains(text, `"msg":"summaries were erased"`) {
			t.Errorf("logged\n%s", text)
		}
	}
	t.Run("with client keys", func(t *testing.T) {
		f(t, "client_keys: [\"${ALICE}\", \"${BOB}\"]\nmodels: [{match: \"*\", api_key: the-key-of-the-test, budget: 14000}]\n",
			func(url string, erase func(int, string, string), makes func(string, bool)) {
				for _, key := range []string{alice, bob} {
					makes(key, true)
					makes(key, false)
				}
				erase(200, "of ALICE erased", "client=ALICE")
				makes(bob, false)
				makes(alice, true)
				erase(404, "No client key has this name", "client=CAROL")
				erase(400, "Whose summaries?", "")
				erase(400, "Whose summaries?", "client=ALICE&credential=x")
				makes(alice, false)
				bad := func(want int, query, form string, headers ...string) {
					t.Helper()
					status, _, _ := rig.Post(t, url+query, []byte(form), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
					if status != want {
						t.Errorf("%d", status)
					}
				}
				bad(400, "?client=ALICE", "")
				bad(400, "", "")
				bad(400, "", "client=ALICE&client=BOB")
				bad(403, "", "client=ALICE", "Origin", "http://evil.example")
				bad(403, "", "client=ALICE", "Origin", "http://127.0.0.1:1")
				makes(alice, false)
			})
	})
	t.Run("by its key", func(t *testing.T) {
		f(t, "models: [{match: \"*\", budget: 14000}]\n",
			func(_ string, erase func(int, string, string), makes func(string, bool)) {
				makes(other, true)
				makes(alice, true)
				makes(other, false)
				erase(200, "of this credential erased", "credential="+other)
				makes(alice, false)
				makes(other, true)
				erase(404, "No client key has this name", "client=ALICE")
			})
	})
}
