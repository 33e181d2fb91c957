package e2e

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"laconic/store/storetest"
)

// shownUpstream is where the page of the first minutes has its upstream.
const shownUpstream = "http://127.0.0.1:8000"

// TestTheFirstMinutesAreAsWritten runs the commands of docs/first-minutes.md, one
// after the other in one folder, and compares what they print with the page. -update
// writes it there. Ports and times are written as the page has them.
func TestTheFirstMinutesAreAsWritten(t *testing.T) {
	const page = "../docs/first-minutes.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	e := &examinee{counted: 1, open: true}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	dir, admin := t.TempDir(), storetest.FreeAddress(t)
	demo, err := filepath.Abs("../demo/conversation.json")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "ask.sh"), fmt.Sprintf(
		`sed '1s/"gpt-4o"/"small"/' %s | curl -s --data-binary @- -H 'content-type: application/json' $OPENAI_BASE_URL/chat/completions | sed 's/.*"content":"\([^"]*\)".*/\1/'
echo
`, demo))
	writeFile(t, filepath.Join(dir, "broken.yaml"), strings.ReplaceAll(`upstream: http://127.0.0.1:8000
models:
  - {match: small, upstream: "http://127.0.0.1:8000/v1", window: 131072}
  - {match: "gpt-*", upstream: "http://127.0.0.1:8000/v1", api_key: sk-old}
  - {match: "local/*", upstream: "http://127.0.0.1:9/v1", api_key: none}
`, shownUpstream, e.URL))
	// The admin address of the page may be somebody's on this machine.
	writeFile(t, filepath.Join(dir, "bin", "laconic"), fmt.Sprintf("#!/bin/sh\ncase $1 in run | doctor) c=$1; shift; exec %[1]s $c --admin %[2]s \"$@\" ;; esac\nexec %[1]s \"$@\"\n", command(t), admin))
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
		{regexp.MustCompile(`clock differs by 1h0m\ds`), "clock differs by 1h0m0s"},
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
			if strings.Contains(line, "broken.yaml") {
				e.late.Store(1)
			}
			want.WriteString(line + run(strings.TrimSpace(line[2:])))
		}
	}
	switch {
	case want.String() == string(text):
	case *update:
		if err := os.WriteFile(page, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is old; go test ./e2e -run FirstMinutes -update writes it:\n%s", page, want.String())
	}
}
