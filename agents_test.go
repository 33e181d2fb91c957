package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"laconic/demo/strict"
)

// agent is a coding agent from npm, and how to run it with one prompt against
// an upstream.
type agent struct {
	name  string
	args  func(url, prompt string) []string
	files func(url string) map[string]string // in its home
	env   []string
}

var agents = []agent{
	{
		name: "opencode",
		args: func(_, prompt string) []string { return []string{"run", "--model", "test/small", prompt} },
		files: func(url string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","permission":{"*":"allow"},"provider":{"test":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` +
				url + `","apiKey":"sk-test"},"models":{"small":{"tool_call":true,"limit":{"context":200000,"output":2048}}}}}}`}
		},
		env: []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
	},
	{
		name: "qwen",
		args: func(url, prompt string) []string {
			return []string{"--auth-type", "openai", "--openai-api-key", "sk-test", "--openai-base-url", url, "--model", "small", "--yolo", "--prompt", prompt}
		},
		env: []string{"QWEN_CODE_MAX_OUTPUT_TOKENS=2048"},
	},
	{
		name: "pi",
		args: func(_, prompt string) []string {
			return []string{"--provider", "test", "--model", "small", "--no-session", "--print", prompt}
		},
		files: func(url string) map[string]string {
			return map[string]string{".pi/agent/models.json": `{"providers":{"test":{"baseUrl":"` + url +
				`","api":"openai-completions","apiKey":"sk-test","models":[{"id":"small","name":"small","reasoning":false,"input":["text"],` +
				`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":200000,"maxTokens":2048}]}}}`}
		},
	},
}

const (
	agentRounds = 30
	agentLimit  = 32_000            // tokens: the hard window of the upstream
	agentTime   = 120 * time.Second // for one agent's session
)

// TestAgentsSeeNoError: real agents read thirty files, which is more than the
// upstream's window takes and nobody told them, nor the proxy. Each comes to
// its end with no error shown. `make e2e` installs the agents and names their
// directory.
func TestAgentsSeeNoError(t *testing.T) {
	bin := os.Getenv("LACONIC_AGENTS")
	if bin == "" {
		t.Skip("LACONIC_AGENTS names no directory of agents: make e2e installs them from npm and runs this")
	}
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) { a.session(t, filepath.Join(bin, a.name)) })
	}
}

func (a *agent) session(t *testing.T, bin string) {
	home := t.TempDir()
	work := filepath.Join(home, "work")
	for i := range agentRounds {
		writeFile(t, filepath.Join(work, fmt.Sprintf("file%d.txt", i)), strings.Repeat(fmt.Sprintf("file %d has a line that says what it is for\n", i), 130))
	}
	var rounds, refused, largest atomic.Int64
	u := strict.New(strict.Options{Limit: agentLimit, Keep: 1, Models: []string{"small"}, Reply: func(r *strict.Request) strict.Reply {
		largest.Store(max(largest.Load(), int64(r.PromptTokens())))
		name, path := readingTool(r.Tools)
		n := rounds.Load()
		if name == "" || n >= agentRounds {
			return strict.Reply{Text: "All files are read: SESSION-IS-OVER."}
		}
		rounds.Add(1)
		arguments, _ := json.Marshal(map[string]string{path: filepath.Join(work, fmt.Sprintf("file%d.txt", n))})
		return strict.Reply{Calls: []strict.Call{{Name: name, Arguments: string(arguments)}}}
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := &statusWriter{ResponseWriter: w}
		u.ServeHTTP(status, r)
		if status.status == http.StatusBadRequest && r.Method == http.MethodPost {
			refused.Add(1)
		}
	})}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	laconic, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(laconic, t.TempDir(), os.Environ(), "--upstream", "http://"+l.Addr().String()+"/v1", "--admin", "off", "--log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.stop() }()

	url := p.URL + "/v1"
	if a.files != nil {
		for name, text := range a.files(url) {
			writeFile(t, filepath.Join(home, name), text)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), agentTime)
	defer stop()
	cmd := exec.CommandContext(ctx, bin, a.args(url, "Read every file in this directory, one after the other, and say when you are done.")...)
	cmd.Dir, cmd.WaitDelay = work, 5*time.Second
	cmd.Env = append(append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_DATA_HOME="+home+"/.local", "XDG_CACHE_HOME="+home+"/.cache", "CI=1", "NO_COLOR=1"), a.env...)
	out, err := cmd.CombinedOutput()
	retried := strings.Count(p.output(), `"outcome":"retried"`)
	t.Logf("%s: %d rounds, %d refused by the upstream, %d sent again, %d compacted, largest prompt %d of %d",
		a.name, rounds.Load(), refused.Load(), retried, strings.Count(p.output(), `"outcome":"compacted"`), largest.Load(), agentLimit)
	if err != nil || !strings.Contains(string(out), "SESSION-IS-OVER") {
		t.Errorf("it did not come to its end: %v\n%.4000s\n%.3000s", err, out, p.output())
	}
	if rounds.Load() != agentRounds || int(refused.Load()) != retried || retried == 0 {
		t.Errorf("%d rounds, %d refused, %d of them answered when sent again", rounds.Load(), refused.Load(), retried)
	}
	for _, word := range []string{"maximum context length", "context_length_exceeded", "400"} {
		if strings.Contains(string(out), word) {
			t.Errorf("it shows %q:\n%.4000s", word, out)
		}
	}
}

// statusWriter notes a status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// readingTool finds the tool that reads a file, and what it calls the path.
func readingTool(tools []byte) (name, path string) {
	var list []struct {
		Function struct {
			Name       string `json:"name"`
			Parameters struct {
				Properties map[string]any `json:"properties"`
			} `json:"parameters"`
		} `json:"function"`
	}
	_ = json.Unmarshal(tools, &list)
	for _, tool := range list {
		if n := tool.Function.Name; n == "read" || n == "read_file" {
			for _, path := range []string{"filePath", "file_path", "absolute_path", "path"} {
				if _, ok := tool.Function.Parameters.Properties[path]; ok {
					return n, path
				}
			}
		}
	}
	return "", ""
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
