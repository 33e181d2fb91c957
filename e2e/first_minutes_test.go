package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"laconic/e2e/rig"

	"laconic/store/storetest"
)

// shownUpstream is where the page of the first minutes has its upstream.
const shownUpstream = "http://127.0.0.1:8000"

var update = flag.Bool("update", false, "rewrite what the first minutes show")

// examinee is an upstream with one model in a window of 8,000 tokens, as vLLM
// publishes it. It wants no key, and refuses a wrong one.
type examinee struct {
	*httptest.Server
}

func (e *examinee) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if key := r.Header.Get("Authorization"); key != "" && key != "Bearer none" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var req struct{ Stream bool }
	_ = json.Unmarshal(body, &req)
	switch {
	case r.URL.Path == "/v1/models":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"small","object":"model","owned_by":"vllm","max_model_len":8000}]}`)
	case r.URL.Path != "/v1/chat/completions":
		http.NotFound(w, r)
	case req.Stream:
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 40 { // the model takes its time
			_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"small\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d, \"}}]}\n\n", i+1)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	default:
		prompt := len(body) / 4
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"small","choices":[{"index":0,"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":2,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`, prompt, prompt+2, prompt*9/10)
	}
}

// TestTheFirstMinutesAreAsWritten runs the commands of docs/first-minutes.md, one
// after the other in one folder, and compares what they print with the page. -update
// writes it there. Ports and times are written as the page has them.
func TestTheFirstMinutesAreAsWritten(t *testing.T) {
	const page = "../docs/first-minutes.md"
	text := rig.ReadFile(t, page)
	e := &examinee{}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	dir, admin := t.TempDir(), storetest.FreeAddress(t)
	demo, err := filepath.Abs("../demo/conversation.json")
	if err != nil {
		t.Fatal(err)
	}
	rig.WriteFile(t, filepath.Join(dir, "ask.sh"), fmt.Sprintf(
		`sed '1s/"gpt-4o"/"small"/' %s | curl -s --data-binary @- -H 'content-type: application/json' $OPENAI_BASE_URL/chat/completions | sed 's/.*"content":"\([^"]*\)".*/\1/'
echo
`, demo))
	rig.WriteFile(t, filepath.Join(dir, "broken.yaml"), strings.ReplaceAll(`upstream: http://127.0.0.1:8000
models:
  - {match: small, upstream: "http://127.0.0.1:8000/v1", window: 131072}
  - {match: "gpt-*", upstream: "http://127.0.0.1:8000/v1", api_key: sk-old}
  - {match: "local/*", upstream: "http://127.0.0.1:9/v1", api_key: none}
`, shownUpstream, e.URL))
	// The admin address of the page may be somebody's on this machine.
	rig.WriteFile(t, filepath.Join(dir, "bin", "laconic"), fmt.Sprintf("#!/bin/sh\ncase $1 in run | doctor) c=$1; shift; exec %[1]s $c --admin %[2]s \"$@\" ;; esac\nexec %[1]s \"$@\"\n", rig.Command(t), admin))
	if err := os.Chmod(filepath.Join(dir, "bin", "laconic"), 0o755); err != nil {
		t.Fatal(err)
	}
	shown := []struct {
		re *regexp.Regexp
		as string
	}{
		{regexp.MustCompile(regexp.QuoteMeta(e.URL)), shownUpstream},
		{regexp.MustCompile(regexp.QuoteMeta(strings.TrimPrefix(e.URL, "http://"))), strings.TrimPrefix(shownUpstream, "http://")},
		{regexp.MustCompile(regexp.QuoteMeta(admin)), "127.0.0.1:7281"},
		{regexp.MustCompile(`127\.0\.0\.1:\d+/v1 in front`), "127.0.0.1:44887/v1 in front"},
		{regexp.MustCompile(`first after \S+, the last \S+ later`), "first after 21ms, the last 805ms later"},
		{regexp.MustCompile(regexp.QuoteMeta(dir)), "~"},
	}
	last := 0
	run := func(line string) string {
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(strings.ReplaceAll(line, shownUpstream, e.URL), "$?", fmt.Sprint(last)))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_CACHE_HOME="+dir+"/.cache",
			"OPENAI_BASE_URL=", "OPENAI_API_KEY=", "HTTP_PROXY=", "http_proxy=")
		out, _ := cmd.CombinedOutput() // with standard error, as on a terminal
		last = cmd.ProcessState.ExitCode()
		said := string(out)
		for _, s := range shown {
			said = s.re.ReplaceAllString(said, s.as)
		}
		return said
	}
	var want strings.Builder
	inside := false
	for line := range strings.Lines(string(text)) {
		switch {
		case line == "```console\n":
			inside = true
			want.WriteString(line)
		case line == "```\n":
			inside = false
			want.WriteString(line)
		case !inside:
			want.WriteString(line)
		case strings.HasPrefix(line, "$ "):
			want.WriteString(line + run(strings.TrimSpace(line[2:])))
		}
	}
	switch {
	case want.String() == string(text):
	case *update:
		rig.WriteFile(t, page, want.String())
	default:
		t.Errorf("%s is old; go test ./e2e -run FirstMinutes -update writes it:\n%s", page, want.String())
	}
}
