package llamacpp

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

// folder is where fetch puts everything, seen from this package.
const folder = "../../.llamacpp"

// A Server is a llama-server of a test.
type Server struct {
	URL string // http://127.0.0.1:port, without /v1
	cmd *exec.Cmd
	log string
}

// Start starts a llama-server at a free address. args are further words of its command
// line.
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
	healthy := func() bool { status, _ := rig.Get(s.URL + "/health"); return status == http.StatusOK }
	if !rig.Soon(func() bool { return len(ended) > 0 || healthy() }) || !healthy() {
		t.Fatalf("llama-server did not begin:\n%s", s.Output())
	}
	return s
}

// Output returns the end of what the server said.
func (s *Server) Output() string {
	b, _ := os.ReadFile(s.log)
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
	path := filepath.Join(root, "usr/bin/llama-server")
	if _, err := os.Stat(path); err == nil {
		cmd := exec.Command(path)
		libraries := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "LD_LIBRARY_PATH="+libraries+":"+libraries+"/llama")
		return cmd
	}
	if path, err = exec.LookPath("llama-server"); err != nil {
		rig.Missing(t, "llama-server (make llamacpp fetches it)")
	}
	return exec.Command(path)
}

// Fetched returns the path of what fetch has put there: "models", llama.cpp's
// vocabularies and chat templates, or "jinja/package", @huggingface/jinja.
func Fetched(t testing.TB, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		rig.Missing(t, name+" (make llamacpp fetches it)")
	}
	return dir
}
