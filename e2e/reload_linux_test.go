package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestReloadOfAPipe: nobody writes to it, so that whoever opens it waits for good.
func TestReloadOfAPipe(t *testing.T) {
	t.Parallel()
	a, b := saysItsName(t, "a"), saysItsName(t, "b")
	r := startReloads(t, t.TempDir(), "upstream: "+a.URL+"/v1\n")
	becomesPipe := func() {
		t.Helper()
		if err := os.Remove(r.file); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(r.file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	becomesPipe()
	const isPipe = "the file is a pipe, a device or a folder, and only a regular file is read again"
	r.says(1, isPipe)
	if status, text := r.post("/reload"); status != 422 || !strings.Contains(text, isPipe) {
		t.Errorf("%d %s", status, text)
	}
	if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	r.says(3, isPipe)
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	writeFile(t, r.file, "upstream: "+b.URL+"/v1\n")
	r.becomes("a file again", "b")
	becomesPipe()
	r.says(4, isPipe)
	// and the process ends: see startReloads
}

// TestAStartReadsAPipe: as a shell makes one of -c <(…). It is read once.
func TestAStartReadsAPipe(t *testing.T) {
	t.Parallel()
	a := saysItsName(t, "a")
	dir := t.TempDir()
	r := &reloads{t: t, file: dir + "/laconic.yaml"}
	if err := syscall.Mkfifo(r.file, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(r.file, []byte("upstream: "+a.URL+"/v1\n"), 0o600) }()
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	if r.running, err = start(path, dir, os.Environ(), "--admin", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.stop() })
	r.becomes("the start", "a")
	if status, text := r.post("/reload"); status != 422 || !strings.Contains(text, "only a regular file is read again") {
		t.Errorf("%d %s", status, text)
	}
	r.becomes("nothing was read", "a")
	if n := strings.Count(r.output(), wasNot); n != 1 {
		t.Errorf("%d reloads without POST /reload:\n%s", n-1, r.output())
	}
}
