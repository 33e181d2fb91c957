package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long anything may take that should happen soon. It is only
// ever waited for when something is broken.
const patience = 30 * time.Second

// folder is where the command is built; TestMain removes it.
var folder string

// TestMain fails the tests when they left a goroutine behind.
func TestMain(m *testing.M) {
	if serveBare() {
		return
	}
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "laconic-e2e-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		if code := m.Run(); code != 0 {
			return code
		}
		client.CloseIdleConnections()
		http.DefaultClient.CloseIdleConnections()
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}())
}

// command returns the path of laconic.
func command(t testing.TB) string {
	t.Helper()
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// laconicPath returns the path of laconic, which the first test that asks for it
// builds, with the race detector where the tests have it.
var laconicPath = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "laconic")
	args := []string{"build", "-o", path}
	if raced {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "laconic")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// laconic is a running process.
type laconic struct {
	URL  string // http://127.0.0.1:port, without /v1
	text string // what it said at its start
	cmd  *exec.Cmd
	log  string
	done chan error
}

// startLaconic runs laconic in front of an upstream, with this configuration,
// and stops it when the test ends. A process that does not end by itself then
// fails its test.
func startLaconic(t testing.TB, upstream, config string, args ...string) *laconic {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "laconic.yaml"), config)
	p := &laconic{log: filepath.Join(dir, "log"), done: make(chan error, 1)}
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.cmd = exec.Command(command(t), "serve", "--listen", "127.0.0.1:0", "--admin", "off", "--log-format", "json", "--upstream", upstream)
	p.cmd.Args = append(p.cmd.Args, args...)
	p.cmd.Dir, p.cmd.Stderr = dir, log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { p.stop(t) })
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if m := listening.FindStringSubmatch(p.output()); m != nil {
			p.URL, p.text = m[1], p.output()
			return p
		}
		if time.Now().After(end) {
			t.Fatalf("laconic did not start:\n%s", p.output())
		}
	}
}

func (p *laconic) output() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (p *laconic) stop(t testing.TB) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case err := <-p.done:
		if err != nil {
			t.Errorf("laconic did not end as it should: %v\n%.2000s", err, p.output())
		}
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		t.Errorf("laconic had to be killed")
	}
}

// client is an HTTP client that adds nothing to a request.
var client = &http.Client{
	Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
	Timeout:   4 * patience,
}
