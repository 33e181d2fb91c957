package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// File is a store in one file, for one process. It survives a restart.
//
// A file that is damaged is moved aside, as NAME.damaged, and made anew. Reads never
// wait for writes.
type File struct {
	path   string
	most   int64 // bytes of values and what belongs to them
	notice func(string)

	mu   sync.RWMutex
	db   *bolt.DB // nil: gone
	held int64    // bytes, as most counts them

	writing sync.Mutex // one value is written at a time
	swept   time.Time  // when sweep looked last; guarded by writing
}

// lockPatience is how long another process may hold the file until we go on
// without it.
const lockPatience = time.Second

// ErrInUse: another process has the file.
var ErrInUse = errors.New("another process has the file")

// NewFile opens the file of that name, or makes it, with mode 0600. It will
// hold at most so many bytes; 0: DefaultFile. notice is told what an operator
// should know later; it may be nil.
func NewFile(path string, bytes int64, notice func(string)) (*File, error) {
	if bytes <= 0 {
		bytes = DefaultFile
	}
	if notice == nil {
		notice = func(string) {}
	}
	f := &File{path: path, most: bytes, notice: notice}
	db, held, err := openFile(path)
	if damaged(err) {
		db, held, err = f.renew()
	}
	if err != nil {
		return nil, err
	}
	f.db, f.held = db, held
	return f, nil
}

// damaged reports whether an error means that the file cannot be read, rather
// than that it cannot be opened.
func damaged(err error) bool {
	var e *damage
	return errors.As(err, &e) || errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrVersionMismatch) ||
		errors.Is(err, bolterrors.ErrChecksum)
}

// damage is the value of a panic while a file was read or written.
type damage struct{ what any }

func (e *damage) Error() string { return "the file is damaged" }

// guarded runs f. bbolt panics on a page that makes no sense, and a file that
// was cut short while it is open makes the processor fault; neither may end
// the process.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = &damage{v}
		}
	}()
	return f()
}

// openFile opens a file and counts what it holds.
func openFile(path string) (db *bolt.DB, held int64, err error) {
	err = guarded(func() (err error) {
		// Without its list of free pages in the file bbolt looks for them in a
		// goroutine of its own, where a damaged page ends the process.
		db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: lockPatience, FreelistType: bolt.FreelistMapType})
		if errors.Is(err, bolterrors.ErrTimeout) {
			return fmt.Errorf("%w: %s", ErrInUse, path)
		}
		if err != nil {
			return opening(err)
		}
		return db.Update(func(tx *bolt.Tx) (err error) {
			held, err = begin(tx)
			return err
		})
	})
	if err != nil && db != nil {
		_ = guarded(db.Close)
		db = nil
	}
	return db, held, err
}

// opening returns err if it is the system's, and damage if it is bbolt's own: a
// file that is too short has no error of its own.
func opening(err error) error {
	var path *os.PathError
	var number syscall.Errno
	if errors.As(err, &path) || errors.As(err, &number) || strings.HasPrefix(err.Error(), "madvise:") {
		return err
	}
	return &damage{err}
}

// renew moves the file aside, over one that was moved before, and makes a new one.
func (f *File) renew() (*bolt.DB, int64, error) {
	aside := f.path + ".damaged"
	if err := os.Rename(f.path, aside); err != nil {
		return nil, 0, err
	}
	f.notice("the store's file was damaged; it is now " + aside + " and a new one was made")
	return openFile(f.path)
}

// broken takes a damaged file out of use. Many readers may find the same damage at
// once: was is the file in which they did.
func (f *File) broken(was *bolt.DB) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db != was || was == nil {
		return
	}
	f.db = nil
	_ = guarded(was.Close)
	db, held, err := f.renew()
	if err != nil {
		f.notice("the store's file cannot be made anew: " + plainError(err))
		return
	}
	f.db, f.held = db, held
}

// Get returns the value of a key.
func (f *File) Get(ctx context.Context, k Key) (value []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.RLock()
	db := f.db
	if db == nil {
		f.mu.RUnlock()
		return nil, ErrAbsent
	}
	err = guarded(func() error {
		return db.View(func(tx *bolt.Tx) error {
			r := tx.Bucket(byKey).Get(k[:])
			if len(r) >= entryHead && binary.BigEndian.Uint64(r) > uint64(time.Now().UnixNano()) {
				value = bytes.Clone(r[entryHead:])
			}
			return nil
		})
	})
	f.mu.RUnlock()
	if damaged(err) {
		f.broken(db)
	}
	switch {
	case err != nil:
		return nil, err
	case value == nil:
		return nil, ErrMiss
	}
	return value, nil
}

// Close waits for a write under way and closes the file.
func (f *File) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db != nil {
		_ = guarded(f.db.Close)
		f.db = nil
	}
}

// plainError returns the text of an error without its paths.
func plainError(err error) string {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err.Error()
	case errors.As(err, &l):
		return l.Err.Error()
	}
	return err.Error()
}
