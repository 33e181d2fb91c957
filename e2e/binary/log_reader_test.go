package binary

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"laconic/e2e/rig"
)

// piped is a laconic process that logs into a pipe.
type piped struct {
	t          *testing.T
	cmd        *exec.Cmd
	log        *os.File
	lines      *bufio.Scanner // of the log
	url, admin string
}

var health = regexp.MustCompile(`"health":"([^"]+)/healthz"`)

// startPiped runs laconic in front of an upstream with one answer.
func startPiped(t *testing.T, args ...string) *piped {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(upstream.Close)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &piped{t: t, log: read, lines: bufio.NewScanner(read)}
	p.lines.Buffer(nil, 1<<20)
	args = append([]string{"serve", "--log-format", "json", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--upstream", upstream.URL + "/v1"}, args...)
	p.cmd = exec.Command(rig.Command(t), args...)
	p.cmd.Dir, p.cmd.Stderr = t.TempDir(), write
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = read.Close()
		_ = p.cmd.Process.Kill() // unless it has ended
	})
	line := p.line(`"msg":"listening"`)
	p.url, p.admin = rig.Listening.FindStringSubmatch(line)[1], health.FindStringSubmatch(line)[1]
	return p
}

// line reads the log up to a line that holds a text.
func (p *piped) line(text string) string {
	p.t.Helper()
	for p.lines.Scan() {
		if strings.Contains(p.lines.Text(), text) {
			return p.lines.Text()
		}
	}
	p.t.Fatalf("the log ended without %s", text)
	return ""
}

// repairs sends requests with results that no call owns: at debug each is one line of
// the log, and one more for each result.
func (p *piped) repairs(requests, results int) {
	p.t.Helper()
	body := `{"model":"gpt-4o","messages":[{"role":"user","content":"x"}` + strings.Repeat(`,{"role":"tool","tool_call_id":"a","content":"y"}`, results) + `]}`
	for i := range requests {
		if status, _, answer := rig.Post(p.t, p.url+"/v1/chat/completions", []byte(body)); status != http.StatusOK {
			p.t.Fatalf("request %d: %d %s", i+1, status, answer)
		}
	}
}

// dropped returns the number that /readyz?verbose tells.
func (p *piped) dropped() (n int) {
	p.t.Helper()
	_, text := rig.Get(p.admin + "/readyz?verbose")
	_, after, _ := strings.Cut(text, "\nlog: ")
	if _, err := fmt.Sscanf(after, "%d lines dropped", &n); err != nil {
		p.t.Fatalf("%v in\n%s", err, text)
	}
	return n
}

// ends tells the process to end, and waits until it has.
func (p *piped) ends() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // that it ended before is seen below
	defer time.AfterFunc(rig.Patience, func() { _ = p.cmd.Process.Kill() }).Stop()
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("it did not end by itself: %v", err)
	}
}

func TestALogWhoseReaderLeftEndsNothing(t *testing.T) {
	t.Parallel()
	p := startPiped(t)
	_ = p.log.Close()
	p.repairs(3, 1)
	if p.dropped() == 0 {
		t.Error("lines that nobody can read are not counted")
	}
	p.ends()
}

func TestALogThatNobodyReadsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	p := startPiped(t, "--log-level", "debug")
	p.repairs(250, 25) // more lines than a pipe holds
	n := p.dropped()
	if n == 0 {
		t.Fatal("no line was dropped: the test is blind")
	}
	var note struct {
		Level string
		Lines int
	}
	if err := json.Unmarshal([]byte(p.line(`"msg":"log lines were dropped"`)), &note); err != nil || note.Level != "warn" || note.Lines != n {
		t.Errorf("%+v, %v, want %d lines", note, err, n)
	}
	p.repairs(1, 1)
	p.line(`"results_dropped":1,`)
	go func() { _, _ = io.Copy(io.Discard, p.log) }()
	p.ends()
}
