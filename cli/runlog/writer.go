package runlog

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mostWaiting bounds the log that waits in memory for its reader, in bytes.
	mostWaiting = 1 << 20
	// lastLines is how long the end of the process waits for its last lines.
	lastLines = time.Second
)

// writer writes lines to w from a goroutine of its own, so that whoever logs
// never waits for w: standard error may be a pipe that nobody reads. Lines that
// find mostWaiting bytes waiting, or that w does not take, are dropped and
// counted. It is safe for concurrent use.
type writer struct {
	w    io.Writer
	note func(lines int) []byte // the line that says how many were dropped

	dropped atomic.Int64 // lines, in all

	mu      sync.Mutex
	waiting []byte
	lines   int // in waiting
	closed  bool
	more    *sync.Cond    // something waits, or the log is closed
	ended   chan struct{} // closed when all is written
}

func newWriter(w io.Writer, note func(lines int) []byte) *writer {
	l := &writer{w: w, note: note, ended: make(chan struct{})}
	l.more = sync.NewCond(&l.mu)
	go l.run()
	return l
}

// Write takes what is logged at once, which counts as one line. It never fails.
func (l *writer) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting)+len(text) > mostWaiting {
		l.dropped.Add(1)
		return len(text), nil
	}
	l.waiting = append(l.waiting, text...)
	l.lines++
	l.more.Signal()
	return len(text), nil
}

// run writes what waits until the log is closed.
func (l *writer) run() {
	defer close(l.ended)
	var text []byte
	noted := 0 // lines that were dropped, and said to be
	for closed := false; !closed; {
		l.mu.Lock()
		for len(l.waiting) == 0 && !l.closed {
			l.more.Wait()
		}
		l.waiting, text = text[:0], l.waiting
		lines, dropped := l.lines, l.Dropped()
		l.lines, closed = 0, l.closed
		l.mu.Unlock()
		if dropped > noted {
			text = append(text, l.note(dropped-noted)...) // behind the last line that was kept
		}
		if len(text) == 0 {
			continue
		}
		if _, err := l.w.Write(text); err != nil {
			l.dropped.Add(int64(lines))
		} else {
			noted = dropped
		}
	}
}

// Dropped returns how many lines were dropped.
func (l *writer) Dropped() int { return int(l.dropped.Load()) }

// Close writes what waits, for lastLines at most: a write that nobody reads has no end,
// and ends with the process.
func (l *writer) Close() {
	l.mu.Lock()
	l.closed = true
	l.more.Signal()
	l.mu.Unlock()
	select {
	case <-l.ended:
	case <-time.After(lastLines):
	}
}
