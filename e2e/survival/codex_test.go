//go:build unix

package survival

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// TestCodexCompacts: Codex that believes in a small window has its own history
// summarized through the proxy, by the upstream's item, by a record of the proxy's where
// the upstream knows no such item, or by a model, and goes on to its end.
func TestCodexCompacts(t *testing.T) {
	bin := installed(t)
	codex := programs[slices.IndexFunc(programs, func(p program) bool { return p.name == "codex" })]
	for name, c := range map[string]struct {
		provider string
		refuses  bool
	}{
		"the upstream's item": {"OpenAI", false}, "a record": {"OpenAI", true}, "a model": {"test", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, home := codex.begin(t, 301, tokenizers[0], 60_000)
			asked, after := 0, 0
			reply := s.reply
			s.SetReply(func(r *strict.Request) strict.Reply {
				last := r.Messages[len(r.Messages)-1]
				switch {
				case last.Role == "compaction_trigger", strings.Contains(r.Header.Get("X-Codex-Turn-Metadata"), `"request_kind":"compaction"`):
					asked++
					return strict.Reply{Text: "The session read some files and has found the test that fails."}
				case slices.ContainsFunc(r.Messages, func(m strict.Message) bool {
					return m.Role == "compaction" || strings.HasPrefix(m.Text, "Another language model started") || c.refuses && strings.Contains(m.Text, "[Record of ")
				}):
					after++
				}
				return reply(r)
			})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if c.refuses && bytes.Contains(body, []byte(`"compaction_trigger"`)) {
					asked++
					http.Error(w, `{"error":{"message":"Invalid input type 'compaction_trigger' at index 7"}}`, http.StatusBadRequest)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.ServeHTTP(w, r)
			}))
			defer server.Close()
			config := "models:\n  - match: \"*\"\n    window: 60000\nstore: {kind: file, path: " + filepath.Join(home, "store.db") + "}\n"
			tap := s.tap(t, startLaconic(t, server.URL+"/v1", config).URL)
			small := codex
			small.files = map[string]string{}
			for name, text := range codex.files {
				small.files[name] = strings.NewReplacer(believed, "17000", `name = "test"`, fmt.Sprintf("name = %q", c.provider)).Replace(text)
			}
			out, err := small.run(t, bin, home, s.dir, tap.URL+"/v1")
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.ended(t, out, err); asked == 0 || after == 0 {
				t.Errorf("it compacted %d times, and %d requests went on from that", asked, after)
			}
			t.Logf("compacted %d times, %d requests after that, %d answers", asked, after, s.round)
		})
	}
}
