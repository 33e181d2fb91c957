package store

import (
	"bytes"
	"cmp"
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

	mu sync.RWMutex
	db *bolt.DB // nil: gone

	writing sync.Mutex // one value is written at a time; guards what follows
	swept   time.Time  // when sweep looked last
	fresh   int64      // bytes written since then
}

// lockPatience is how long another process may hold the file until we go on
// without it.
const lockPatience = time.Second

// NewFile opens the file of that name, or makes it, with mode 0600. It will hold at
// most so many bytes, 0: defaultBytes. notice is told what an operator should know later.
func NewFile(path string, bytes int64, notice func(string)) (*File, error) {
	f := &File{path: path, most: cmp.Or(bytes, defaultBytes), notice: notice}
	err := f.open()
	if errors.Is(err, errDamaged) {
		err = f.renew()
	}
	return f, err
}

// errDamaged: the file cannot be read, rather than that it cannot be opened.
var errDamaged = errors.New("the file is damaged")

// guarded runs f. bbolt panics on a page that makes no sense, and a file that
// was cut short while it is open makes the processor fault; neither may end
// the process.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	return f()
}

// open opens the file and reads what it holds, which finds most damage.
func (f *File) open() error {
	var db *bolt.DB
	err := guarded(func() (err error) {
		// Without its list of free pages in the file bbolt looks for them in a
		// goroutine of its own, where a damaged page ends the process.
		db, err = bolt.Open(f.path, 0o600, &bolt.Options{Timeout: lockPatience, FreelistType: bolt.FreelistMapType})
		if errors.Is(err, bolterrors.ErrTimeout) {
			return fmt.Errorf("another process has the file: %s", f.path)
		}
		if err != nil {
			return opening(err)
		}
		return db.Update(func(tx *bolt.Tx) error {
			values, err := tx.CreateBucketIfNotExists(byKey)
			if err != nil {
				return err
			}
			return values.ForEach(func(_, _ []byte) error { return nil })
		})
	})
	if err == nil {
		f.db = db
	} else if db != nil {
		_ = guarded(db.Close)
	}
	return err
}

// opening returns err if it is the system's, and errDamaged if it is bbolt's own: a
// file that is too short has no error of its own.
func opening(err error) error {
	if _, ofSystem := errors.AsType[syscall.Errno](err); ofSystem || strings.HasPrefix(err.Error(), "madvise:") {
		return err
	}
	return errDamaged
}

// renew moves the file aside, over one that was moved before, and makes a new one.
func (f *File) renew() error {
	aside := f.path + ".damaged"
	if err := os.Rename(f.path, aside); err != nil {
		return err
	}
	f.notice("the store's file was damaged; it is now " + aside + " and a new one was made")
	return f.open()
}

// use calls do with the open file, which is made anew if that shows that it is damaged.
func (f *File) use(ctx context.Context, do func(db *bolt.DB) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.RLock()
	db := f.db
	err := ErrAbsent
	if db != nil {
		err = guarded(func() error { return do(db) })
	}
	f.mu.RUnlock()
	if errors.Is(err, errDamaged) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.db == db { // many may find the same damage at once
			f.db = nil
			_ = guarded(db.Close)
			if err := f.renew(); err != nil {
				f.notice("the store's file cannot be made anew: " + pathless(err).Error())
			}
		}
	}
	return err
}

// Get returns the value of a key.
func (f *File) Get(ctx context.Context, k Key) (value []byte, err error) {
	err = f.use(ctx, func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			r := tx.Bucket(byKey).Get(k[:])
			if len(r) < entryHead || binary.BigEndian.Uint64(r) <= uint64(time.Now().UnixNano()) {
				return ErrMiss
			}
			value = bytes.Clone(r[entryHead:])
			return nil
		})
	})
	return value, err
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

// pathless returns an error without the paths of its files, which may come from the
// environment.
func pathless(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
