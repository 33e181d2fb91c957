package runlog

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/zap"
)

// TestTheJournalSeesPriorities: a stream to the journal is a socket, whose lines begin
// with their priority; a log that was redirected has plain lines.
func TestTheJournalSeesPriorities(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "near"), os.NewFile(uintptr(pair[1]), "far")
	defer near.Close()
	defer far.Close()
	var s syscall.Stat_t
	if err := syscall.Fstat(pair[0], &s); err != nil {
		t.Fatal(err)
	}
	say := func(f *os.File) {
		log := New("debug", "auto", f)
		log.Debug("a", zap.Int("n", 1))
		log.Info("b")
		log.Warn("c")
		log.Error("d")
		log.Close()
		_ = f.Close()
	}
	t.Setenv("JOURNAL_STREAM", fmt.Sprintf("%d:%d", s.Dev, s.Ino))
	redirected, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	say(redirected)
	if text, err := os.ReadFile(redirected.Name()); err != nil || !strings.HasPrefix(string(text), "{") {
		t.Errorf("redirected: %s (%v)", text, err)
	}
	say(near)
	text, err := io.ReadAll(far)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for line := range strings.Lines(string(text)) {
		got += line[:4]
	}
	if got != "<7>{<6>{<4>{<3>{" {
		t.Errorf("%s", text)
	}
}
