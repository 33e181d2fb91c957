// Package rig builds laconic and runs it as a process, for tests that see it as its
// users do. A process ends with its test, and one that does not end by itself fails it.
package rig

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
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
	Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 512},
	Timeout:   4 * Patience,
}

// Listening finds the address in the first lines of a log.
var Listening = regexp.MustCompile(`(?m)"listening":"(https?://[^"]+)".*}$`)

var health = regexp.MustCompile(`"health":"(http://[^"]+)/healthz"`)

// Soon waits for something that other goroutines or processes do, and reports whether
// it came about within [Patience].
func Soon(ok func() bool) bool {
	for end := time.Now().Add(Patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Eventually fails the test if something does not come about.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !Soon(ok) {
		t.Fatalf("%s did not come about in %v", what, Patience)
	}
}

// Missing skips a test that has not what it needs. With LACONIC_NO_SKIP it fails.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("LACONIC_NO_SKIP") != "" {
		t.Fatalf("no %s here", what)
	}
	t.Skipf("no %s here", what)
}

// Installed returns the path of a program of a Debian package.
func Installed(t testing.TB, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" (apt install "+pkg+")")
	}
	return path
}

// Post sends a JSON body. headers are names and values, in turn.
func Post(t testing.TB, url string, body []byte, headers ...string) (status int, h http.Header, answer []byte) {
	t.Helper()
	status, h, answer, err := Ask(http.MethodPost, url, bytes.NewReader(body), headers...)
	if err != nil {
		t.Fatal(err)
	}
	return status, h, answer
}

// Get asks for a page. Without an answer the status is 0, and the text says why.
func Get(url string, headers ...string) (status int, text string) {
	status, _, answer, err := Ask(http.MethodGet, url, nil, headers...)
	if err != nil {
		return 0, err.Error()
	}
	return status, string(answer)
}

// Ask sends a request, whose body is JSON if it has one.
func Ask(method, url string, body io.Reader, headers ...string) (status int, h http.Header, answer []byte, err error) {
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		return 0, nil, nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := Client.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, res.Header, answer, err
}

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

// ReadFile returns what is in a file.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Publish changes the table below a mark in a page of the manual.
func Publish(t testing.TB, page, mark string, change func(old string) string) {
	t.Helper()
	head, rest, found := strings.Cut(string(ReadFile(t, page)), "<!-- "+mark+" -->\n")
	table, tail, ended := strings.Cut(rest, "<!-- end -->")
	if !found || !ended {
		t.Fatalf("%s has no place for %s", page, mark)
	}
	WriteFile(t, page, head+"<!-- "+mark+" -->\n"+change(table)+"<!-- end -->"+tail)
}

// folder is where the command is built; Main removes it.
var folder string

// Main runs tests, for TestMain, and fails them when they left a goroutine behind that no
// option takes for one that may stay.
func Main(m *testing.M, options ...goleak.Option) (code int) {
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
	if err := goleak.Find(options...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Path returns the path of laconic, which the first test that asks for it
// builds, with the race detector where the tests have it.
var Path = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "laconic")
	args := []string{"build", "-o", path}
	if info, _ := debug.ReadBuildInfo(); info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "laconic")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, lookAtSources()
})

// lookAtSources looks at the files that the command is built of. Without that, go test
// repeats an earlier result after a change: it knows only what the test itself looked at.
func lookAtSources() error {
	const files = `{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{$d}}{{range .EmbedFiles}}
{{$d}}/{{.}}{{end}}
{{end}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", files, "laconic").Output()
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); name != "" && err == nil {
			_, err = os.Stat(name)
		}
	}
	return err
}

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
	URL   string // http://127.0.0.1:port, without /v1; https with a certificate
	Admin string // the same of the admin listener; "" if it is off
	Text  string // what the process logged at its start
	Cmd   *exec.Cmd
	log   string
	done  chan struct{} // closed when the process ended
	err   error         // how, once done
}

// Start runs laconic in front of an upstream, with this configuration, and stops it
// when the test ends.
func Start(t testing.TB, upstream, config string, args ...string) *Laconic {
	t.Helper()
	dir := t.TempDir()
	WriteFile(t, filepath.Join(dir, "laconic.yaml"), config)
	p := Launch(t, dir, nil, append([]string{"--admin", "off", "--upstream", upstream}, args...)...)
	t.Cleanup(func() { p.Stop(t) })
	return p
}

// Launch runs laconic in a folder, where it logs to proxy.log. It returns when laconic
// listens. The caller stops the process.
func Launch(t testing.TB, dir string, env []string, args ...string) *Laconic {
	t.Helper()
	p := &Laconic{log: filepath.Join(dir, "proxy.log"), done: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.Cmd = exec.Command(Command(t), append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json"}, args...)...)
	p.Cmd.Dir, p.Cmd.Env, p.Cmd.Stderr = dir, env, log
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.err = p.Cmd.Wait(); close(p.done) }()
	if !Soon(func() bool { p.Text = p.Output(); return p.Ended() || Listening.MatchString(p.Text) }) || p.Ended() {
		_ = p.Cmd.Process.Kill()
		t.Fatalf("laconic did not start:\n%s", p.Output())
	}
	p.URL = Listening.FindStringSubmatch(p.Text)[1]
	if m := health.FindStringSubmatch(p.Text); m != nil {
		p.Admin = m[1]
	}
	return p
}

// Output returns what the process logged until now.
func (p *Laconic) Output() string {
	text, _ := os.ReadFile(p.log)
	return string(text)
}

// Ended reports whether the process has ended.
func (p *Laconic) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait waits until the process ends, and kills it after [Patience].
func (p *Laconic) Wait() error {
	select {
	case <-p.done:
		return p.err
	case <-time.After(Patience):
		_ = p.Cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("it had to be killed after %v", Patience)
	}
}

// Stop ends the process. One that does not end by itself, with code 0, fails the test.
func (p *Laconic) Stop(t testing.TB) {
	_ = p.Cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	if err := p.Wait(); err != nil {
		t.Errorf("laconic did not end as it should: %v\n%.2000s", err, p.Output())
	}
}
