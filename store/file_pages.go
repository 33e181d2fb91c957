package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The file is a log with an index. Values are in the order in which they came, so
// the oldest are found at once when room is needed, and pages fill up one after
// the other. The index has the number of each key's value.
var (
	byAge = []byte("values") // number → until (8 bytes), key (32 bytes), value
	byKey = []byte("index")  // key → number
)

const recordHead = 8 + 32

// recordBytes is about what a value takes in the file beside itself: its head,
// its place in two trees, and half empty pages of the index.
const recordBytes = recordHead + 160

// Put stores a value. It returns when the value is on the disk.
func (f *File) Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error {
	if len(value) > MaxValue+overhead {
		return ErrLarge
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.RLock()
	db, held := f.db, f.held
	if db == nil {
		f.mu.RUnlock()
		return ErrAbsent
	}
	err := guarded(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			grown, err := insert(tx, k, value, time.Now().Add(ttl))
			if err != nil {
				return err
			}
			held += grown
			freed, err := evict(tx, held-f.most, time.Now())
			held -= freed
			return err
		})
	})
	f.mu.RUnlock()
	switch {
	case damaged(err):
		f.broken(db)
	case err == nil:
		f.mu.Lock()
		if f.db == db {
			f.held = held
		}
		f.mu.Unlock()
	}
	return err
}

// insert adds a value and returns by how many bytes the file grew.
func insert(tx *bolt.Tx, k Key, value []byte, until time.Time) (int64, error) {
	values, index := tx.Bucket(byAge), tx.Bucket(byKey)
	values.FillPercent = 1 // it only grows at its end
	var freed int64
	if old := index.Get(k[:]); old != nil {
		if r := values.Get(old); r != nil {
			freed = int64(len(r)-recordHead) + recordBytes
			if err := values.Delete(bytes.Clone(old)); err != nil {
				return 0, err
			}
		}
	}
	n, err := values.NextSequence()
	if err != nil {
		return 0, err
	}
	record := binary.BigEndian.AppendUint64(make([]byte, 0, recordHead+len(value)), uint64(until.Unix()))
	record = append(append(record, k[:]...), value...)
	if err := values.Put(number(n), record); err != nil {
		return 0, err
	}
	if err := index.Put(k[:], number(n)); err != nil {
		return 0, err
	}
	return int64(len(value)) + recordBytes - freed, nil
}

// evict removes the oldest values until so many bytes are free, and expired ones
// as long as they are the oldest. It returns the bytes freed.
func evict(tx *bolt.Tx, excess int64, now time.Time) (freed int64, err error) {
	values, index := tx.Bucket(byAge), tx.Bucket(byKey)
	c := values.Cursor()
	for n, r := c.First(); n != nil; n, r = c.First() {
		if len(r) >= recordHead {
			if freed >= excess && binary.BigEndian.Uint64(r) > uint64(now.Unix()) {
				return freed, nil
			}
			if key := r[8:recordHead]; bytes.Equal(index.Get(key), n) {
				if err := index.Delete(bytes.Clone(key)); err != nil {
					return freed, err
				}
			}
			freed += int64(len(r)-recordHead) + recordBytes
		}
		if err := c.Delete(); err != nil {
			return freed, err
		}
	}
	return freed, nil
}

// find returns a copy of a key's value, or nil.
func find(tx *bolt.Tx, k Key, now time.Time) []byte {
	n := tx.Bucket(byKey).Get(k[:])
	if n == nil {
		return nil
	}
	r := tx.Bucket(byAge).Get(n)
	if len(r) < recordHead || !bytes.Equal(r[8:recordHead], k[:]) || binary.BigEndian.Uint64(r) <= uint64(now.Unix()) {
		return nil
	}
	return bytes.Clone(r[recordHead:])
}

// count returns how many bytes a file holds.
func count(tx *bolt.Tx) (held int64, err error) {
	err = tx.Bucket(byAge).ForEach(func(_, r []byte) error {
		held += max(0, int64(len(r)-recordHead)) + recordBytes
		return nil
	})
	return held, err
}
