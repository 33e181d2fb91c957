package runlog

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
)

// stalled is a writer that takes nothing until it is told to.
type stalled struct {
	takes chan struct{}
	text  strings.Builder
	err   error
}

func (s *stalled) Write(p []byte) (int, error) {
	<-s.takes
	if s.err != nil {
		return 0, s.err
	}
	return s.text.Write(p)
}

func TestLinesAboveTheBoundAreDroppedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stalled{takes: make(chan struct{})}
		l := newWriter(out, func(n int) []byte { return fmt.Appendf(nil, "%d missing\n", n) })
		line := strings.Repeat("x", mostWaiting/4-1) + "\n"
		write := func(n int) {
			for range n {
				if _, err := l.Write([]byte(line)); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(1)
		if synctest.Wait(); l.lines != 0 {
			t.Errorf("%d lines wait while the first is being written", l.lines)
		}
		write(7) // four wait
		if n := l.Dropped(); n != 3 {
			t.Errorf("%d dropped", n)
		}
		close(out.takes)
		l.Close()
		if got, want := out.text.String(), strings.Repeat(line, 5)+"3 missing\n"; got != want {
			t.Errorf("%d bytes, want %d: …%q", len(got), len(want), got[max(0, len(got)-40):])
		}
		write(1)
		if n := l.Dropped(); n != 4 {
			t.Errorf("%d dropped after the end", n)
		}
	})
}

func TestLinesThatCannotBeWrittenAreToldLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stalled{takes: make(chan struct{}), err: syscall.ENOSPC}
		close(out.takes)
		l := newWriter(out, func(n int) []byte { return fmt.Appendf(nil, "%d missing\n", n) })
		_, _ = io.WriteString(l, "a\n")
		if synctest.Wait(); l.Dropped() != 1 {
			t.Errorf("%d dropped", l.Dropped())
		}
		out.err = nil
		_, _ = io.WriteString(l, "b\n")
		l.Close()
		if got := out.text.String(); got != "b\n1 missing\n" {
			t.Errorf("%q", got)
		}
	})
}
