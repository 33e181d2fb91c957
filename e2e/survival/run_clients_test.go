//go:build unix

package survival

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// started are programs as laconic run starts them, told of the proxy by that alone.
var started = []struct {
	name string
	args []string
}{
	{"claude", []string{"--print", "--dangerously-skip-permissions", firstPrompt}},
	{"opencode", []string{"run", firstPrompt}},
	{"pi", []string{"--no-session", "--print", firstPrompt}},
	{"qwen", []string{"--yolo", "--prompt", firstPrompt}},
	{"codex", []string{"exec", "--skip-git-repo-check", firstPrompt}},
	{"cline", []string{firstPrompt}},
	{"copilot", []string{"--prompt", firstPrompt, "--allow-all-tools"}},
	{"cn", []string{"--print", firstPrompt}},
}

// TestRunClients: programs that people use find the proxy that laconic run starts, and
// nothing of the user's is changed for that.
func TestRunClients(t *testing.T) {
	bin := installed(t)
	for _, p := range started {
		t.Run(p.name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(bin, p.name)); err != nil {
				t.Fatalf("%v: make e2e installs it", err)
			}
			server := httptest.NewServer(strict.New(strict.Options{Limit: -1, Reply: func(*strict.Request) strict.Reply { return strict.Reply{Text: sessionIsOver} }}))
			defer server.Close()
			home := t.TempDir()
			work := filepath.Join(home, "work")
			writeFile(t, filepath.Join(work, "TASK.md"), "# OPS-4127\n")
			env := append(atHome(home, work), "NO_PROXY=", "no_proxy=", "OPENAI_API_KEY=", "OTEL_SDK_DISABLED=true", "DO_NOT_TRACK=1",
				"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1")
			out, err := limited(env, work, command(t), append([]string{"run", "--upstream", server.URL + "/v1", "--model", "small", "--", filepath.Join(bin, p.name)}, p.args...))
			if err != nil || !strings.Contains(out, "SESSION-IS-OVER") || !strings.Contains(out, "chat request") {
				t.Errorf("%v\n%.3000s", err, out)
			}
			for _, own := range []string{".config/opencode/opencode.json", ".pi/agent/models.json", ".codex/config.toml", ".cline/data/settings/providers.json", ".continue/config.yaml"} {
				if text, err := os.ReadFile(filepath.Join(home, own)); err == nil && strings.Contains(string(text), "laconic") {
					t.Errorf("%s was changed:\n%s", own, text)
				}
			}
		})
	}
}
