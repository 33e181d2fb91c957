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
