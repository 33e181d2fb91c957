//go:build unix

package store

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestAFullDiskIsAnErrorAndNoMore: what is there is still found. It runs in a
// process of its own, whose files may not grow.
func TestAFullDiskIsAnErrorAndNoMore(t *testing.T) {
	if os.Getenv("STORE_TEST_FULL") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAFullDiskIsAnErrorAndNoMore$")
		cmd.Env = append(os.Environ(), "STORE_TEST_FULL=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	ctx := context.Background()
	s := openTestFile(t, filepath.Join(t.TempDir(), "x.db"), 0)
	mustPut(t, s, keyOf(1), []byte("text"), time.Hour)
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	tight := was
	tight.Cur = 64 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
		t.Fatal(err)
	}
	full := 0
	for i := range 20 {
		if s.Put(ctx, keyOf(100+i), make([]byte, 100_000), time.Hour) != nil {
			full++
		}
	}
	if full == 0 {
		t.Fatal("the disk never was full: this test tests nothing")
	}
	if got, err := s.Get(ctx, keyOf(1)); string(got) != "text" {
		t.Errorf("what was there: %q, %v", got, err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, keyOf(2), []byte("later"), time.Hour); err != nil {
		t.Errorf("there is room again: %v", err)
	}
}
