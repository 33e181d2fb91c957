// Package rig builds laconic and runs it as a process, for tests that see it as its
// users do. A process ends with its test, and one that does not end by itself fails it.
package rig

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Patience is how long anything may take that should happen soon. It is only
// ever waited for when something is broken.
const Patience = 30 * time.Second

// Client is an HTTP client that adds nothing to a request.
var Client = &http.Client{
	Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
	Timeout:   4 * Patience,
}

// Listening finds the address in the first lines of a log.
var Listening = regexp.MustCompile(`(?m)"listening":"(https?://[^"]+)".*}$`)

// WriteFile writes a file, and makes the folders above it.
func WriteFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// folder is where the command is built; Main removes it.
var folder string

// Main runs tests, for TestMain, and fails them when they left a goroutine behind.
func Main(m *testing.M) (code int) {
	var err error
	if folder, err = os.MkdirTemp("", "laconic-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	if code := m.Run(); code != 0 {
		return code
	}
	Client.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Raced reports whether the tests run with the race detector.
func Raced() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Path returns the path of laconic, which the first test that asks for it
// builds, with the race detector where the tests have it.
var Path = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "laconic")
	args := []string{"build", "-o", path}
	if Raced() {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "laconic")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// Command returns the path of laconic.
func Command(t testing.TB) string {
	t.Helper()
	path, err := Path()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Laconic is a running process.
type Laconic struct {
	URL  string // http://127.0.0.1:port, without /v1
	Text string // what it said at its start
	Cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it ended
	err  error         // how, once done
}

// Start runs laconic in front of an upstream, with this configuration, and stops it
// when the test ends.
func Start(t testing.TB, upstream, config string, args ...string) *Laconic {
	t.Helper()
	dir := t.TempDir()
	WriteFile(t, filepath.Join(dir, "laconic.yaml"), config)
	p := &Laconic{log: filepath.Join(dir, "log"), done: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.Cmd = exec.Command(Command(t), "serve", "--listen", "127.0.0.1:0", "--admin", "off", "--log-format", "json", "--upstream", upstream)
	p.Cmd.Args = append(p.Cmd.Args, args...)
	p.Cmd.Dir, p.Cmd.Stderr = dir, log
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.err = p.Cmd.Wait(); close(p.done) }()
	t.Cleanup(func() { p.Stop(t) })
	for end := time.Now().Add(Patience); ; time.Sleep(5 * time.Millisecond) {
		if m := Listening.FindStringSubmatch(p.Output()); m != nil {
			p.URL, p.Text = m[1], p.Output()
			return p
		}
		if time.Now().After(end) {
			t.Fatalf("laconic did not start:\n%s", p.Output())
		}
	}
}

// Output returns what the process logged until now.
func (p *Laconic) Output() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Stop ends the process.
func (p *Laconic) Stop(t testing.TB) {
	_ = p.Cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-p.done:
		if p.err != nil {
			t.Errorf("laconic did not end as it should: %v\n%.2000s", p.err, p.Output())
		}
	case <-time.After(Patience):
		_ = p.Cmd.Process.Kill()
		t.Errorf("laconic had to be killed")
	}
}
