//go:build unix

package survival

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"laconic/demo/strict"
)

// program is an agent that people use, and how to run it with one prompt.
type program struct {
	name string
	// args, without the prompt, files of its home and env have {url} where the URL belongs,
	// and {origin} where that is without /v1.
	args  string
	files map[string]string
	env   []string
	// windows are those that the long run measures it in.
	windows []int
	// known: its model is one that the proxy knows, which counts by o200k_base.
	known bool
	// thinks: the upstream binds its thinking to all that stood before it.
	thinks bool
}

// beforeVLLM is how the name of a program ends whose upstream refuses in vLLM's words.
const beforeVLLM = " in front of vLLM"

// counts returns the tokenizer of its upstream.
func (p program) counts() tokenizer {
	switch {
	case p.known:
		return tokenizers[3]
	case p.thinks: // Anthropic's newest make more tokens of a text than others
		return claudeCounts
	}
	return tokenizers[0]
}

// believed is the window that the programs take their model for: they never
// compact by themselves.
const believed = "1000000"

var programs = []program{
	claudeCode("claude", "small", 22_000, 44_000),
	claudeCode("claude as claude-sonnet-5", "claude-sonnet-5", 36_000, 72_000), // which it knows: other tools, and system messages behind results
	ofNode("anthropic-node", "anthropic-node.mjs", 8_000, 16_000),
	ofNode("ai-sdk anthropic", "ai-sdk.mjs anthropic", 8_000, 16_000),
	openCode("opencode anthropic", "@ai-sdk/anthropic"),
	ofNode("openai-node", "openai-node.mjs", 8_000, 16_000, 32_000),
	ofNode("openai-node"+beforeVLLM, "openai-node.mjs", 16_000, 32_000),
	openCode("opencode", "@ai-sdk/openai-compatible"),
	{
		name: "qwen",
		args: "--auth-type openai --openai-api-key sk-test --openai-base-url {url} --model small --yolo --prompt",
		files: map[string]string{
			".qwen/settings.json": `{"memory":{"enableManagedAutoMemory":false,"enableManagedAutoDream":false},"model":{"generationConfig":{"contextWindowSize":` + believed + `}}}`,
		},
		env: []string{"QWEN_CODE_MAX_OUTPUT_TOKENS=32000"}, // what it asks for by itself

		windows: []int{40_000},
	},
	pi("pi", 12_000, 32_000),
	pi("pi"+beforeVLLM, 12_000),
	{
		name: "codex",
		args: "exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox",
		files: map[string]string{
			".codex/config.toml": "model = \"gpt-5.5\"\nmodel_provider = \"test\"\nmodel_context_window = " + believed + "\nmodel_auto_compact_token_limit = " + believed +
				"\n[model_providers.test]\nname = \"test\"\nbase_url = \"{url}\"\nenv_key = \"OPENAI_API_KEY\"\nsupports_websockets = false\n",
		},
		env: []string{"OPENAI_API_KEY=sk-test"},

		windows: []int{19_000, 38_000},
		known:   true,
	},
	ofNode("openai-node responses", "openai-node-responses.mjs", 8_000, 16_000),
	ofNode("openai-agents", "openai-agents.mjs", 8_000, 16_000),
	ofNode("ai-sdk openai", "ai-sdk.mjs openai", 8_000, 16_000),
	openCode("opencode openai", "@ai-sdk/openai"),
	{
		name: "cline",
		args: "-P openai-compatible -m small --compaction off",
		files: map[string]string{
			".cline/data/settings/providers.json": `{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":{"settings":{` +
				`"provider":"openai-compatible","apiKey":"sk-test","model":"small","baseUrl":"{url}"},"updatedAt":"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}`,
		},
		env: []string{"CLINE_SESSION_BACKEND_MODE=local", "OTEL_SDK_DISABLED=true", "DO_NOT_TRACK=1"},

		windows: []int{16_000, 32_000},
	},
}

// claudeCode is Claude Code with a model. Anthropic binds thinking to what stood before
// it; servers of one's own do not.
func claudeCode(name, model string, windows ...int) program {
	return program{
		name: name,
		args: "--print --dangerously-skip-permissions --model " + model,
		env: []string{
			"ANTHROPIC_BASE_URL={origin}", "ANTHROPIC_AUTH_TOKEN=sk-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_CONTEXT_TOKENS=" + believed,
			"CLAUDE_CODE_MAX_OUTPUT_TOKENS=2048", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1",
		},

		windows: windows,
		thinks:  strings.HasPrefix(model, "claude-"),
	}
}

// ofNode is a script of testdata, with words that come before the URL.
func ofNode(name, script string, windows ...int) program {
	return program{name: name, windows: windows, args: "../testdata/" + script + " {url}"}
}

// pi is pi, in front of vLLM or not.
func pi(name string, windows ...int) program {
	return program{
		name: name,
		args: "--provider test --model small --no-session --print",
		files: map[string]string{
			".pi/agent/models.json": `{"providers":{"test":{"baseUrl":"{url}","api":"openai-completions","apiKey":"sk-test","models":[{"id":"small","name":"small","reasoning":false,` +
				`"input":["text"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":` + believed + `,"maxTokens":2048}]}}}`,
		},
		windows: windows,
	}
}

// begin makes a session of the program in a home of its own, without the step that a user
// refuses: there is none.
func (p program) begin(t *testing.T, seed uint64, k tokenizer, window int) (s *session, home string) {
	t.Helper()
	home = t.TempDir()
	w := newWorkspace(seed, k.text)
	s = newSession(w, window, k, p.thinks)
	if strings.HasSuffix(p.name, beforeVLLM) {
		s.Upstream = strict.New(strict.Options{Limit: -1, Count: k.message, CountTools: k.tools, Reply: s.reply, Rule: func(r *strict.Request) *strict.Refusal {
			if r.PromptTokens() <= window {
				return nil
			}
			return &strict.Refusal{Kind: strict.KindOverflow, Status: 400, Type: "BadRequestError", Message: fmt.Sprintf(
				"This model's maximum context length is %d tokens. However, your request has %d input tokens. Please reduce the length of the input messages.", window, r.PromptTokens())}
		}})
	}
	s.steps = slices.DeleteFunc(s.steps, func(s step) bool { return s.fate == refused })
	s.dir = filepath.Join(home, "work")
	w.lay(t, s.dir)
	return s, home
}

// ended fails the test where a session did not come to its end, or its client saw a
// refusal.
func (s *session) ended(t *testing.T, out string, err error) {
	t.Helper()
	if err != nil || !strings.Contains(out, "SESSION-IS-OVER") || s.seen > 0 || len(s.lost) > 0 {
		t.Errorf("it did not come to its end: %d answers, %d refusals seen, no tool for %v: %v\n%.3000s", s.round, s.seen, s.lost, err, out)
	}
}

// openCode is opencode with a provider of the AI SDK.
func openCode(name, provider string) program {
	return program{
		name: name,
		args: "run --model test/small",
		files: map[string]string{
			".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","permission":{"*":"allow"},"provider":{"test":{"npm":"` + provider +
				`","options":{"baseURL":"{url}","apiKey":"sk-test"},"models":{"small":{"tool_call":true,"limit":{"context":` + believed + `,"output":2048}}}}}}`,
		},
		env: []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},

		windows: []int{20_000, 24_000},
	}
}

// programTime is the longest that the session of a program may take.
const programTime = 5 * time.Minute

// run runs the program in a folder of its own home until it ends.
func (p program) run(t testing.TB, bin, home, work, url string) (output string, err error) {
	t.Helper()
	fill := strings.NewReplacer("{url}", url, "{origin}", strings.TrimSuffix(url, "/v1"))
	for name, text := range p.files {
		writeFile(t, filepath.Join(home, name), fill.Replace(text))
	}
	env := append(atHome(home, work), "LACONIC_AGENTS="+bin, "NO_PROXY=127.0.0.1,localhost")
	for _, v := range p.env {
		env = append(env, fill.Replace(v))
	}
	name := filepath.Join(bin, strings.Fields(p.name)[0])
	args := append(strings.Fields(fill.Replace(p.args)), firstPrompt)
	if strings.HasSuffix(args[0], ".mjs") {
		name = "node"
		args[0], err = filepath.Abs(args[0])
		if err != nil {
			return "", err
		}
	}
	return limited(env, work, name, args)
}

// atHome is the environment of a program in a home of its own, without a network.
func atHome(home, work string) []string {
	return append(os.Environ(), "PWD="+work, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_DATA_HOME="+home+"/.local", "XDG_CACHE_HOME="+home+"/.cache",
		"TMPDIR="+home, "CI=1", "NO_COLOR=1", "HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9")
}

// limited runs a command with a limit of time, and ends all processes of its
// group with it.
func limited(env []string, dir, name string, args []string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), programTime)
	defer stop()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, 5*time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// probe is what the first prompt of a program costs.
func (p program) probe(t *testing.T, bin string, k tokenizer) int {
	t.Helper()
	first := 0
	u := strict.New(strict.Options{Limit: -1, Count: k.message, CountTools: k.tools, Reply: func(r *strict.Request) strict.Reply {
		first = max(first, r.PromptTokens())
		return strict.Reply{Text: sessionIsOver}
	}})
	server := httptest.NewServer(u)
	defer server.Close()
	home := t.TempDir()
	work := filepath.Join(home, "work")
	writeFile(t, filepath.Join(work, "TASK.md"), "# OPS-4127\n")
	if out, err := p.run(t, bin, home, work, server.URL+"/v1"); err != nil || first == 0 {
		t.Fatalf("%s does not run: %v\n%.3000s", p.name, err, out)
	}
	return first
}

// installed returns the folder of the programs.
func installed(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("LACONIC_AGENTS")
	if bin == "" {
		t.Skip("LACONIC_AGENTS names no directory of programs: make e2e installs them from npm and runs this")
	}
	return bin
}

// TestClients: the same forty calls by programs that people use, in the smallest
// window that they can work in. Each comes to its end and sees no refusal, and its
// newest result is never gone. `make e2e` installs them and runs each in a window of its
// first prompt and 10,000 tokens, told, untold and without the proxy; `make e2e-all`
// runs all of their windows.
func TestClients(t *testing.T) {
	bin := installed(t)
	all := os.Getenv("LACONIC_SURVIVAL") == "all"
	var rows []*row
	for i, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			k, seed := p.counts(), uint64(201+i)
			if all {
				for _, window := range p.windows {
					rows = append(rows, p.session(t, bin, seed, k, window, true), p.session(t, bin, seed, k, window, false))
				}
				return
			}
			window := p.probe(t, bin, k) + 10_000
			rows = append(rows, p.session(t, bin, seed, k, window, true), p.session(t, bin, seed, k, window, false))
			if rows[len(rows)-1].sums[refusedThere] == 0 {
				t.Errorf("%s: nothing was refused, so nothing was shown", p.name)
			}
			p.alone(t, bin, seed, k, window)
		})
	}
	text := table("program, window", rows)
	t.Logf("one session each, from the first fold on:\n%s", text)
	if all {
		publish(t, "clients", text)
	}
}

// alone runs the program without the proxy. Most end at the first refusal; those that
// summarize their history themselves go on.
func (p program) alone(t *testing.T, bin string, seed uint64, k tokenizer, window int) {
	t.Helper()
	s, home := p.begin(t, seed, k, window)
	server := httptest.NewServer(s)
	defer server.Close()
	out, err := p.run(t, bin, home, s.dir, server.URL+"/v1")
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Logf("%s %d without the proxy: %d of %d answers, to its end %v, %d refused: %v", p.name, window, s.round, len(s.steps)+1, strings.Contains(out, "SESSION-IS-OVER"), s.refused, err)
	if s.refused == 0 {
		t.Errorf("%s: nothing was refused, so nothing was shown", p.name)
	}
}

// session runs the program through laconic, and reads what the upstream saw.
func (p program) session(t *testing.T, bin string, seed uint64, k tokenizer, window int, told bool) *row {
	t.Helper()
	s, home := p.begin(t, seed, k, window)
	server := httptest.NewServer(s)
	defer server.Close()
	config := "models:\n  - match: \"*\"\n"
	r := &row{name: fmt.Sprintf("%s %d untold", p.name, window)}
	if told {
		config += fmt.Sprintf("    window: %d\n", window)
		r.name = fmt.Sprintf("%s %d told", p.name, window)
	}
	tap := s.tap(t, startLaconic(t, server.URL+"/v1", config).URL)
	begun := time.Now()
	out, err := p.run(t, bin, home, s.dir, tap.URL+"/v1")
	s.mu.Lock()
	defer s.mu.Unlock()
	r.add(s)
	t.Logf("%s: %d answers in %v, %d refused, %d seen, largest prompt %d", r.name, s.round, time.Since(begun).Round(time.Second), s.refused, s.seen, s.largest)
	if s.ended(t, out, err); s.round != len(s.steps)+1 {
		t.Errorf("%s: %d answers to %d steps", r.name, s.round, len(s.steps))
	}
	for _, step := range s.steps {
		if text, err := os.ReadFile(filepath.Join(s.dir, step.path)); (step.do == write || step.do == edit) && step.fate == done && !strings.Contains(string(text), strings.TrimSpace(step.text)) {
			t.Errorf("%s: it did not %s %s: %v", r.name, step.do, step.path, err)
		}
	}
	if r.mean(newestGone) > 0 {
		t.Errorf("%s: its newest result is gone in %.1f %%", r.name, 100*r.mean(newestGone))
	}
	return r
}
