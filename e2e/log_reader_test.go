package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// piped is a laconic process whose standard error is a pipe.
type piped struct {
	t      testing.TB
	cmd    *exec.Cmd
	err    io.ReadCloser // where its log can be read
	lines  *bufio.Scanner
	URL    string
	Admin  string
	client *http.Client
	done   chan struct{} // closed when it ended
	exit   error         // once done
}

// startPiped runs laconic. It is killed at the end of the test if it still runs.
func startPiped(t testing.TB, stderr, read *os.File, args ...string) *piped {
	t.Helper()
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(read)
	lines.Buffer(nil, 1<<20)
	p := &piped{t: t, err: read, lines: lines, client: newClient(), done: make(chan struct{})}
	p.cmd = exec.Command(path, append([]string{"serve", "--log-format", "json"}, args...)...)
	p.cmd.Dir, p.cmd.Stderr = t.TempDir(), stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = stderr.Close()
	go func() {
		p.exit = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.client.CloseIdleConnections()
		_ = read.Close()
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.done
	})
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

// listen reads where it listens.
func (p *piped) listen() {
	p.t.Helper()
	line := p.line(`"msg":"listening"`)
	p.URL = listening.FindStringSubmatch(line)[1]
	p.Admin = health.FindStringSubmatch(line)[1]
}

// ask sends a request and returns the status of its answer, 0 for none.
func (p *piped) ask(body string) (int, error) {
	res, err := p.client.Post(p.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// answers sends a request n times, one after the other on one connection.
func (p *piped) answers(n int, body string) {
	p.t.Helper()
	p.client.Timeout = patience
	for i := range n {
		if status, err := p.ask(body); status != http.StatusOK {
			p.t.Fatalf("request %d: status %d, %v", i+1, status, err)
		}
	}
}

// ends tells it to end and waits until it has.
func (p *piped) ends() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // that it ended before is seen below
	select {
	case <-p.done:
		if p.exit != nil {
			p.t.Fatalf("it did not end by itself: %v", p.exit)
		}
	case <-time.After(patience):
		p.t.Fatalf("it did not end within %v", patience)
	}
}

// dropped is the number that /readyz?verbose tells.
func (p *piped) dropped() (n int) {
	p.t.Helper()
	res, err := p.client.Get(p.Admin + "/readyz?verbose")
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if c, _ := fmt.Sscanf(line, "log: %d lines dropped", &n); c == 1 {
			return n
		}
	}
	p.t.Fatalf("no number of dropped lines in\n%s", text)
	return 0
}

func pipe(t testing.TB) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return read, write
}

// answering is an upstream with one answer.
func answering(t testing.TB) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// repairs is a request with n results that no call owns: at debug it is n+1
// lines of the log, at other levels one.
func repairs(n int) string {
	return `{"model":"gpt-4o","messages":[{"role":"user","content":"x"}` +
		strings.Repeat(`,{"role":"tool","tool_call_id":"a","content":"y"}`, n) + `]}`
}

func TestALogWhoseReaderLeftEndsNothing(t *testing.T) {
	t.Parallel()
	read, write := pipe(t)
	p := startPiped(t, write, read, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--upstream", answering(t))
	p.listen()
	_ = read.Close()
	p.answers(3, repairs(1))
	if p.dropped() == 0 {
		t.Error("lines that nobody can read are not counted")
	}
	p.ends()
}

func TestALogThatNobodyReadsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	read, write := pipe(t)
	p := startPiped(t, write, read, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--upstream", answering(t), "--log-level", "debug")
	p.listen()
	p.answers(250, repairs(25)) // more lines than a pipe holds
	n := p.dropped()
	if n == 0 {
		t.Fatal("no line was dropped: the test is blind")
	}
	var note struct {
		Level string
		Lines int
	}
	if err := json.Unmarshal([]byte(p.line(`"msg":"log lines were dropped"`)), &note); err != nil {
		t.Fatal(err)
	}
	if note.Level != "warn" || note.Lines != n {
		t.Errorf("%+v, want %d lines", note, n)
	}
	p.answers(1, repairs(1))
	p.line(`"results_dropped":1,`)
	go func() { _, _ = io.Copy(io.Discard, p.err) }()
	p.ends()
}
