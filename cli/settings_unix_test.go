//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestACommandEndsThatWaitsForItsConfiguration: the file is a pipe that nobody writes
// to.
func TestACommandEndsThatWaitsForItsConfiguration(t *testing.T) {
	for _, command := range []string{"serve", "check --explain m", "healthcheck", "erase --client ALICE"} {
		file := filepath.Join(t.TempDir(), "laconic.yaml")
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Skip(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		stop(errors.New("SIGTERM"))
		var out, said bytes.Buffer
		code := Run(ctx, append(strings.Fields(command), "--config", file), strings.NewReader(""), &out, &said)
		if want := "laconic: told to stop (SIGTERM) before " + file + " was read\n"; code != 1 || out.String()+said.String() != want {
			t.Errorf("%s: %d %s%s", command, code, &out, &said)
		}
		writer, err := os.OpenFile(file, os.O_RDWR, 0) // ends the read
		if err != nil {
			t.Fatal(err)
		}
		_ = writer.Close()
	}
}

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
