//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A key that is a pipe is refused, and not waited for: it could not be read again.
func TestAPipeIsNoCertificate(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cert", "key"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	file := writeFile(t, filepath.Join(dir, "laconic.yaml"), "tls: {cert: "+dir+"/cert, key: "+dir+"/key}\n")
	if code, out, said := run(t, "check", "--config", file); code != 1 || !strings.Contains(out+said, "tls.cert cannot be used: is a pipe") {
		t.Errorf("%d %s%s", code, out, said)
	}
}

// A process that was killed leaves its folder; the next one removes it, and no other's.
func TestFoldersOfKilledRunsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	left, live := fmt.Sprintf("laconic-run-%d-1", ended.Process.Pid), fmt.Sprintf("laconic-run-%d-1", os.Getppid())
	for _, name := range []string{left, live, "laconic-run-x"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var f ownFiles
	defer f.remove()
	if _, err := f.write("name", "text"); err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	if got := fmt.Sprint(all); len(all) != 3 || strings.Contains(got, left) || !strings.Contains(got, live) {
		t.Error(got)
	}
}
