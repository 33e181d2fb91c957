package llamacpp

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// folder is where fetch puts everything, seen from the tests of e2e.
const folder = "../.llamacpp"

// patience is how long a server may take to begin, on a busy machine.
const patience = time.Minute

// A Server is a llama-server of a test.
type Server struct {
	URL string // http://127.0.0.1:port, without /v1
	cmd *exec.Cmd
	log string
}

// Start starts a llama-server at a free address. args are further words of its command
// line. Where there is none the test is skipped, but with LACONIC_NO_SKIP it fails.
func Start(t testing.TB, addr string, args ...string) *Server {
	t.Helper()
	host, port, _ := strings.Cut(addr, ":")
	s := &Server{URL: "http://" + addr, log: filepath.Join(t.TempDir(), "llama-server.log")}
	s.cmd = program(t)
	s.cmd.Args = append(append(s.cmd.Args, "--host", host, "--port", port, "--jinja", "--threads", "1", "--threads-batch", "1", "--no-webui"), args...)
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it keeps nothing
		<-ended
	})
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("llama-server ended: %v\n%s", err, s.Output())
		default:
		}
		if res, err := http.Get(s.URL + "/health"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(end) {
			t.Fatalf("llama-server did not begin:\n%s", s.Output())
		}
	}
}

// Output returns the end of what the server said.
func (s *Server) Output() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}

// program returns a command that runs llama-server. The one that was fetched finds its
// libraries from the folder in which it is started.
func program(t testing.TB) *exec.Cmd {
	t.Helper()
	root, err := filepath.Abs(filepath.Join(folder, "server"))
	if err != nil {
		t.Fatal(err)
	}
	if path := filepath.Join(root, "usr/bin/llama-server"); exists(path) {
		cmd := exec.Command(path)
		libraries := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "LD_LIBRARY_PATH="+libraries+":"+libraries+"/llama")
		return cmd
	}
	path, err := exec.LookPath("llama-server")
	if err != nil {
		Missing(t, "llama-server")
	}
	return exec.Command(path)
}

// Models returns the folder of llama.cpp with vocabularies and chat templates. Where it
// is missing the test is skipped, but with LACONIC_NO_SKIP it fails.
func Models(t testing.TB) string {
	t.Helper()
	return fetched(t, "models", "folder with chat templates")
}

// Jinja returns the folder of the npm package @huggingface/jinja, as Models does.
func Jinja(t testing.TB) string {
	t.Helper()
	return fetched(t, "jinja/package", "@huggingface/jinja")
}

func fetched(t testing.TB, name, what string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if !exists(dir) {
		Missing(t, what)
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Missing skips a test that has not what it needs. With LACONIC_NO_SKIP it fails.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("LACONIC_NO_SKIP") != "" {
		t.Fatalf("no %s here (make llamacpp fetches it)", what)
	}
	t.Skipf("no %s here (make llamacpp fetches it)", what)
}
