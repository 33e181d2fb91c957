// Package watch follows a file that others write.
//
// It promises:
//
//   - whole: what [Read] returns has stood for a while, [Rest], so that a file is not read
//     while it is written.
//   - seen: a file is followed however it changes: written in place, replaced by a
//     rename, or behind a link that is swapped, as editors and Kubernetes do.
//   - quiet: who writes beside the file, or writes the same again, wakes nobody who
//     would have to read it.
package watch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"
)

const (
	// Rest is how long a file should stand until it is read.
	Rest = 250 * time.Millisecond
	// mostUnrest is how long Read waits for that.
	mostUnrest = 5 * time.Second
)

// lookEvery is how often Changes looks at a file: what a system tells of changes does
// not follow links out of a folder, nor all file systems. A variable for tests.
var lookEvery = time.Second

// ErrUnrest is the error of a file that keeps changing.
var ErrUnrest = errors.New("the file keeps changing, or takes too long to read; it is read when it stands still")

// Read returns what read returns, once that was the same twice, rest apart. An error
// may be what stands: the file is not there. It does not wait for a read that ctx ends,
// or that takes as long as a file may be restless.
func Read(ctx context.Context, rest time.Duration, read func() ([]byte, error)) ([]byte, error) {
	ctx, stop := context.WithTimeoutCause(ctx, mostUnrest, ErrUnrest)
	defer stop()
	var last *attempt
	for {
		done := make(chan *attempt, 1)
		go func() {
			text, err := read()
			done <- &attempt{text, err}
		}()
		var now *attempt
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case now = <-done:
		}
		if last != nil && bytes.Equal(now.text, last.text) && sameError(now.err, last.err) {
			return now.text, now.err
		}
		last = now
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(rest):
		}
	}
}

// attempt is what a read returned.
type attempt struct {
	text []byte
	err  error
}

func sameError(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
}

// Changes calls changed at once, and whenever the file at path is another one than
// before, until ctx is done.
func Changes(ctx context.Context, path string, changed func()) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	last := stampOf(path)
	changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if now := stampOf(path); !now.same(last) {
			last = now
			changed()
		}
	}
}

// stamp shows whether a file is another one than before.
type stamp struct{ os.FileInfo } // nil: there was no file

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info}
}

func (s stamp) same(t stamp) bool {
	if s.FileInfo == nil || t.FileInfo == nil {
		return s.FileInfo == t.FileInfo
	}
	return os.SameFile(s.FileInfo, t.FileInfo) && s.Size() == t.Size() && s.ModTime().Equal(t.ModTime())
}
