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

// Start starts a llama-server of a test at a free address, and returns its URL without
// /v1. args are further words of its command line.
func Start(t testing.TB, addr string, args ...string) (url string) {
	t.Helper()
	host, port, _ := strings.Cut(addr, ":")
	url = "http://" + addr
	cmd := program(t)
	cmd.Args = append(append(cmd.Args, "--host", host, "--port", port, "--jinja", "--threads", "1", "--threads-batch", "1", "--no-webui"), args...)
	log, err := os.Create(filepath.Join(t.TempDir(), "llama-server.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it keeps nothing
		<-ended
	})
	healthy := func() bool { status, _ := rig.Get(url + "/health"); return status == http.StatusOK }
	if !rig.Soon(func() bool { return len(ended) > 0 || healthy() }) || !healthy() {
		said := rig.ReadFile(t, log.Name())
		t.Fatalf("llama-server did not begin:\n%s", said[max(0, len(said)-2000):])
	}
	return url
}

// program returns a command that runs llama-server. The one that was fetched finds its
// libraries from the folder in which it is started.
func program(t testing.TB) *exec.Cmd {
	t.Helper()
	root, _ := filepath.Abs(filepath.Join(folder, "server"))
	path := filepath.Join(root, "usr/bin/llama-server")
	if _, err := os.Stat(path); err == nil {
		cmd := exec.Command(path)
		libraries := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "LD_LIBRARY_PATH="+libraries+":"+libraries+"/llama")
		return cmd
	}
	path, err := exec.LookPath("llama-server")
	if err != nil {
		rig.Missing(t, "llama-server (make llamacpp fetches it)")
	}
	return exec.Command(path)
}

// Fetched returns the path of what fetch has put there: "models", llama.cpp's
// vocabularies and chat templates, or "jinja/package", @huggingface/jinja.
func Fetched(t testing.TB, name string) string {
	t.Helper()
	dir, _ := filepath.Abs(filepath.Join(folder, name))
	if _, err := os.Stat(dir); err != nil {
		rig.Missing(t, name+" (make llamacpp fetches it)")
	}
	return dir
}
