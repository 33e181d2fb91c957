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
	"testing"

	"github.com/tidwall/sjson"

	"laconic/e2e/llamacpp"
	"laconic/store/storetest"
)

// TestClaudeOnLlamaCpp: forty calls of Claude Code in front of a real llama-server,
// whose template wants the system message first. It evaluates and judges each request;
// what it takes is answered by the script. Its window is told by it, or a secret.
func TestClaudeOnLlamaCpp(t *testing.T) {
	bin := installed(t)
	templates := filepath.Join(llamacpp.Fetched(t, "models"), "templates")
	vocabulary, err := llamacpp.Cl100k("../../tokenize/bpe/data/cl100k_base.merges")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "model.gguf")
	if err := llamacpp.Write(file, vocabulary, 131072); err != nil {
		t.Fatal(err)
	}
	claude := programs[slices.IndexFunc(programs, func(p program) bool { return p.name == "claude" })]
	for _, window := range claude.windows {
		for _, secret := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d secret %v", window, secret), func(t *testing.T) {
				llama := llamacpp.Start(t, storetest.FreeAddress(t), "-m", file, "-c", fmt.Sprint(window), "--chat-template-file", filepath.Join(templates, "Qwen3.5-4B.jinja"))
				s, home := claude.begin(t, 401, tokenizers[2], -1)
				var refusals []string
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					short := body
					if r.Method == http.MethodPost {
						short, _ = sjson.SetBytes(slices.Clone(body), "max_tokens", 1)
						short, _ = sjson.SetBytes(short, "stream", false)
					}
					req, _ := http.NewRequestWithContext(r.Context(), r.Method, llama+r.URL.RequestURI(), bytes.NewReader(short))
					req.Header.Set("Content-Type", "application/json")
					res, err := client.Do(req)
					if err != nil || secret && r.Method != http.MethodPost {
						http.NotFound(w, r)
						return
					}
					defer res.Body.Close()
					answer, _ := io.ReadAll(res.Body)
					if r.Method == http.MethodPost && res.StatusCode == http.StatusOK {
						r.Body = io.NopCloser(bytes.NewReader(body))
						s.ServeHTTP(w, r)
						return
					}
					if r.Method == http.MethodPost {
						s.mu.Lock()
						refusals = append(refusals, fmt.Sprintf("%d %.150s", res.StatusCode, answer))
						s.mu.Unlock()
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(res.StatusCode)
					_, _ = w.Write(answer)
				}))
				defer server.Close()
				tap := s.tap(t, startLaconic(t, server.URL+"/v1", "").URL)
				out, err := claude.run(t, bin, home, s.dir, tap.URL+"/v1")
				s.mu.Lock()
				defer s.mu.Unlock()
				r := &row{name: t.Name()}
				r.add(s)
				t.Logf("%d answers, newest whole %.1f %%, refused %q", s.round, 100*r.mean(newestWhole), refusals)
				if s.ended(t, out, err); r.mean(newestGone) > 0 {
					t.Error("its newest result is gone")
				}
			})
		}
	}
}
