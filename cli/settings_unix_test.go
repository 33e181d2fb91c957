//go:build unix

package cli

import (
	"bytes"
	"os"
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
	file := filepath.Join(dir, "laconic.yaml")
	if err := os.WriteFile(file, []byte("tls: {cert: "+dir+"/cert, key: "+dir+"/key}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	if code := Run(t.Context(), []string{"check", "--config", file}, strings.NewReader(""), &out, &said); code != 1 || !strings.Contains(out.String()+said.String(), "tls.cert cannot be used: is a pipe") {
		t.Errorf("%d %s%s", code, &out, &said)
	}
}
