package cli

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRunEndsWithItsContext: Run is the whole program, so it must not outlive
// what it was given.
func TestRunEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var out lockedText
	done := make(chan int, 1)
	go func() {
		done <- Run(ctx, []string{"--listen", "127.0.0.1:0", "--admin", "off"}, strings.NewReader(""), io.Discard, &out)
	}()
	eventually(t, "the first line", func() bool { return strings.Contains(out.String(), `"msg":"listening"`) })
	stop()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}

// lockedText is a text that several goroutines write and read.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually waits for what other goroutines do.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come about", what)
		}
	}
}
