package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var proxyCommands = map[string]scriptCommand{
	"proxy":   startProxy,
	"signal":  signalProxy,
	"exits":   exitsProxy,
	"gone":    goneProxy,
	"logline": logLine,
}

// eventually waits for something that other goroutines or processes do.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !soon(ok) {
		t.Fatalf("%s did not come about in %v", what, patience)
	}
}

func soon(ok func() bool) bool {
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// running is a laconic process.
type running struct {
	cmd    *exec.Cmd
	log    string // file of its standard error
	URL    string // http://127.0.0.1:port, without /v1; https with a certificate
	Admin  string // the same of the admin listener; "" when it is off
	client *http.Client

	done chan struct{} // closed when the process ended
	err  error         // of the process, once done

	mu    sync.Mutex // guards what follows
	read  int64      // bytes of the log
	lines map[string]compactionLine
}

// compactionLine is the log line of one request.
type compactionLine struct {
	Message   string `json:"msg"`
	RequestID string `json:"request_id"`
	Outcome   string `json:"outcome"`
	Epochs    int    `json:"epochs"`
	Before    int    `json:"tokens_before"`
	After     int    `json:"tokens_after"`
	Budget    int    `json:"budget"`
}

var health = regexp.MustCompile(`"health":"(http://[^"]+)/healthz"`)

// start runs laconic on a free port and waits until it says where.
func start(path, dir string, env []string, args ...string) (*running, error) {
	p := &running{log: filepath.Join(dir, "proxy.log"), done: make(chan struct{}), lines: map[string]compactionLine{}, client: newClient()}
	file, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p.cmd = exec.Command(path, append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json"}, args...)...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, env, file
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	var text string
	if !soon(func() bool { text = p.output(); return p.ended() || listening.MatchString(text) }) || p.ended() {
		_ = p.stop()
		return nil, fmt.Errorf("laconic did not start: %v\n%s", p.err, p.output())
	}
	p.URL = listening.FindStringSubmatch(text)[1]
	if m := health.FindStringSubmatch(text); m != nil {
		p.Admin = m[1]
	}
	return p, nil
}

// newClient is an HTTP client that changes nothing: it does not ask for
// compression, follow redirects or go through a proxy.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       4 * patience,
	}
}

func (p *running) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// output is what the process wrote to standard error so far.
func (p *running) output() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// stop tells the process to end, unless it did, and waits for it. The error
// says that it ended badly, or not by itself.
func (p *running) stop() error {
	p.client.CloseIdleConnections()
	if !p.ended() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended just now
	}
	return p.wait()
}

func (p *running) wait() error {
	select {
	case <-p.done:
		return p.err
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("it had to be killed after %v", patience)
	}
}

// line is the log line of a request, which is written when the answer is over:
// the client may know that a little earlier.
func (p *running) line(id string) (l compactionLine, ok bool) {
	ok = soon(func() bool {
		p.readLog()
		p.mu.Lock()
		defer p.mu.Unlock()
		l, ok = p.lines[id]
		return ok
	})
	return l, ok
}

// readLog takes in what was added to the log since the last time.
func (p *running) readLog() {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := os.Open(p.log)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := f.Seek(p.read, io.SeekStart); err != nil {
		return
	}
	for r := bufio.NewReader(f); ; {
		text, err := r.ReadString('\n')
		if err != nil {
			return // the rest of the line is still to come
		}
		p.read += int64(len(text))
		var l compactionLine
		if json.Unmarshal([]byte(text), &l) == nil && l.Message == "compaction" {
			p.lines[l.RequestID] = l
		}
	}
}

// startProxy: proxy [-env NAME=VALUE]… [FLAG]… starts laconic serve with these
// flags, in front of $UPSTREAM where there is one, and sets $PROXY and $ADMIN to
// where it listens. What it says goes to proxy.log. It is stopped when the
// story ends, and must then end by itself with code 0.
func startProxy(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg)
	s := storyOf(ts)
	if s.proxy != nil && !s.proxy.ended() {
		ts.Fatalf("a proxy is running already")
	}
	env := []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR")}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		env = append(env, "GOCOVERDIR="+dir)
	}
	for len(args) >= 2 && args[0] == "-env" {
		env, args = append(env, args[1]), args[2:]
	}
	if up := ts.Getenv("UPSTREAM"); up != "" {
		args = append([]string{"--upstream", up}, args...)
	}
	p, err := start(s.path, ts.MkAbs("."), env, append([]string{"--admin", "127.0.0.1:0"}, args...)...)
	ts.Check(err)
	s.proxy = p
	ts.Setenv("PROXY", p.URL)
	ts.Setenv("ADMIN", p.Admin)
}

func (s *story) runningProxy(ts *testscript.TestScript) *running {
	if s.proxy == nil {
		ts.Fatalf("no proxy was started")
	}
	return s.proxy
}

// signalProxy: signal TERM, INT or HUP.
func signalProxy(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg)
	name := flags(ts, args, 1, 1, nil)[0]
	sig, ok := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}[name]
	if !ok {
		ts.Fatalf("unknown signal %s", name)
	}
	ts.Check(storyOf(ts).runningProxy(ts).cmd.Process.Signal(sig))
}

// goneProxy: gone waits until the proxy takes no connections any more.
func goneProxy(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg)
	flags(ts, args, 0, 0, nil)
	address := strings.TrimPrefix(storyOf(ts).runningProxy(ts).URL, "http://")
	if !soon(func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}) {
		ts.Fatalf("it still takes connections")
	}
}

// exitsProxy: exits CODE waits for the proxy to end with this code.
func exitsProxy(ts *testscript.TestScript, neg bool, args []string) {
	never(ts, neg)
	want := flags(ts, args, 1, 1, nil)[0]
	p := storyOf(ts).runningProxy(ts)
	got := "0"
	var exit *exec.ExitError
	if err := p.wait(); errors.As(err, &exit) {
		got = fmt.Sprint(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("it ended with code %s, want %s\n%s", got, want, p.output())
	}
	storyOf(ts).proxy = nil
}

// logLine: logline WORD… waits for a line of proxy.log that has all these
// words, and prints it. With "!" there must be none by now.
func logLine(ts *testscript.TestScript, neg bool, args []string) {
	words := flags(ts, args, 1, 20, nil)
	p := storyOf(ts).runningProxy(ts)
	find := func() (line string, ok bool) {
		for line := range strings.Lines(p.output()) {
			all := true
			for _, w := range words {
				all = all && strings.Contains(line, w)
			}
			if all {
				return line, true
			}
		}
		return "", false
	}
	if neg {
		if line, ok := find(); ok {
			ts.Fatalf("the log has %s", line)
		}
		return
	}
	var line string
	if !soon(func() (ok bool) { line, ok = find(); return ok }) {
		ts.Fatalf("no line of the log has %q\n%s", words, p.output())
	}
	_, err := io.WriteString(ts.Stdout(), line)
	ts.Check(err)
}
